"""WithRisk: exact bounds on the errors of a classifier on new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from stepnet.certificate.risk import Risk, Share
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import BaseStep
from stepnet.model.binomial import checked_confidence
from stepnet.problem.row_prints import RowPrints
from stepnet.runtime.numbers import is_finite_number
from stepnet.uncertainty.attack import attack

_REPEATED = ("refuse", "drop", "keep")


class WithRisk(BaseStep):
    """A classifier that knows which rows it was trained on."""

    row_prints_: RowPrints | None  # None for a model from a file of an earlier version

    def risk(
        self,
        X: ArrayLike,
        y: ArrayLike,
        confidence: float = 0.95,
        *,
        groups: ArrayLike | None = None,
        radius: float | None = None,
        norm: str = "linf",
        repeated: str = "refuse",
        keep: bool = False,
    ) -> Risk:
        """Exact bounds on error, recall and precision on new rows, from rows that were not used for training.

        The rows must be a random sample of those that the model will see, and must not have been used to choose it.

        Parameters
        ----------
        X, y : array-like
            Rows and their true classes.
        confidence : float
            Of each bound: the probability that it holds, over the choice of the rows.
        groups : array-like of shape (n_rows,), optional
            The group of every row; the error is then bounded in each group, too.
        radius : float, optional
            Also bound the share of rows that no perturbation up to this size gets wrong.
        norm : "l1", "l2" or "linf"
            How perturbations are measured.
        repeated : "refuse", "drop" or "keep"
            What to do with rows that equal training rows: raise an error, leave them out, or use them, if they are new
            rows that happen to be equal.
        keep : bool
            Whether to print the bound on errors with the certificate from now on.

        Returns
        -------
        Risk
        """
        check_is_fitted(self)
        confidence = checked_confidence(confidence)
        if repeated not in _REPEATED:
            raise InvalidInputError(f"repeated={repeated!r} is not known; choose {', '.join(map(repr, _REPEATED))}.")
        rows = self._new_rows(X)
        codes, parts = self._codes_of(y, len(rows)), None if groups is None else np.asarray(groups)
        if parts is not None and parts.shape != (len(rows),):
            raise InvalidInputError(f"groups must have one entry per row, {len(rows)}; got shape {parts.shape}.")
        known = self._known(rows)
        if known.any() and repeated == "refuse":
            raise InvalidInputError(
                f"{int(known.sum())} of {len(rows)} rows equal training rows, and say nothing about new ones. Give "
                f"rows that were not trained on; if these are new rows that happen to be equal, use repeated='keep' "
                f"(--repeated keep), or 'drop' to leave them out."
            )
        if known.any() and repeated == "drop":
            rows, codes = rows[~known], codes[~known]
            parts = None if parts is None else parts[~known]
        if not len(rows):
            raise InvalidInputError("no rows are left that were not trained on; give some.")
        names = tuple(map(str, self.classes_.tolist()))
        certified = None if radius is None else self._certified_share(rows, codes, radius, norm, confidence)
        found = Risk.of(
            codes, self.network_.predict(rows), names, confidence, parts, certified, n_repeated=int(known.sum())
        )
        if keep:
            self.certificate_ = replace(self.certificate_, new_rows=found.sentence)
        return found

    def _codes_of(self, y: Any, n_rows: int) -> Any:
        labels = np.asarray(y)
        if labels.shape != (n_rows,):
            raise InvalidInputError(f"y must have one class per row, {n_rows}; got shape {labels.shape}.")
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise InvalidInputError(
                f"y has the label {labels[unknown].tolist()[0]!r}, which is not one of the classes "
                f"{self.classes_.tolist()} of the model."
            )
        return np.searchsorted(self.classes_, labels)

    def _known(self, rows: Any) -> Any:
        prints = getattr(self, "row_prints_", None)
        if prints is None:
            raise InvalidInputError(
                "this model does not know its training rows: it is from a file of an earlier version, or was learned "
                "from a file block by block. Fit it again, on rows in memory."
            )
        return prints.know(rows)

    def _certified_share(self, rows: Any, codes: Any, radius: Any, norm: str, confidence: float) -> Share:
        if not is_finite_number(radius) or radius < 0:
            raise InvalidInputError(f"radius={radius!r} must be a finite number that is not negative, such as 0.1.")
        radii = attack(self.network_, rows, codes, norm=norm, radius=float(radius)).radii
        return Share.of(f"right within {radius:g} in {norm}", radii > radius, confidence)

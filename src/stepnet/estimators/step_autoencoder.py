"""StepAutoencoder: rows as a few bits, and back."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from stepnet.errors import InvalidInputError, ModelFileError
from stepnet.estimators.base import FLOATS, checked_weights
from stepnet.estimators.online import OnlineStep
from stepnet.model.activations.identity import IDENTITY
from stepnet.model.network import Network
from stepnet.problem.architecture import Architecture, checked_hidden
from stepnet.problem.dataset import Dataset
from stepnet.problem.problem import Problem
from stepnet.runtime.numbers import is_integer
from stepnet.runtime.progress import Callback


@dataclass(eq=False, repr=False)
class StepAutoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnlineStep):  # type: ignore[misc]
    """Step neurons that encode every row as a few bits, and a network that reconstructs the row from them.

    Parameters
    ----------
    n_components : int, default=16
        Bits of the code.
    hidden : tuple of int, default=()
        Widths of the layers between the input and the code.
    decoder : tuple of int or None, default=None
        Widths of the layers between the code and the output; None: those of ``hidden`` in reverse.
    weights, threshold, activation
        Of the step neurons; see :class:`StepRegressor`. The last layer has real weights.
    loss : "squared", "absolute" or an object, default="squared"
        What training minimises: the error of the reconstruction.
    sparsity, constraints
        See :class:`StepClassifier`.
    method : "learn", "prove", "search", "exact", "alternating" or a method object, default="learn"
        ``"learn"`` for codes of new rows; proofs suit few rows and bits.
    time_limit, gap, n_jobs, random_state, verbose, on_interrupt
        See :class:`StepRegressor`.

    Attributes
    ----------
    network_ : Network
        From rows to their reconstructions.
    code_layer_ : int
        The number of the layer that holds the code, counted from 0.
    certificate_ : Certificate
        Verified error of the reconstruction of the training rows, and a bound.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    Examples
    --------
    >>> from stepnet import StepAutoencoder
    >>> rows = [[0, 0], [0, 0], [9, 5], [9, 5]]
    >>> coder = StepAutoencoder(n_components=1, method="prove", random_state=0).fit(rows)
    >>> codes = coder.transform(rows)
    >>> codes.dtype.name, coder.inverse_transform(codes).round(6).tolist() == rows
    ('int8', True)
    """

    n_components: int = 16
    _: KW_ONLY
    hidden: tuple[int, ...] = ()
    decoder: tuple[int, ...] | None = None
    loss: Any = "squared"

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        start: Network | None = None,
        on_incumbent: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> Self:
        """Train; ``y`` is ignored, the others are as for :meth:`StepClassifier.fit`."""
        options: Any = {"start": start, "on_incumbent": on_incumbent, "checkpoint": checkpoint, "resume": resume}
        return super().fit(X, X, sample_weight, **options)

    def partial_fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on a batch of rows after those of earlier calls.

        With ``method="learn"`` training goes on with the current weights, and no rows are kept; the certificate is
        about the last batch. Other methods keep the rows and train on all of them, with the current network as warm
        start.
        """
        return self._add(X, None, sample_weight)

    def transform(self, X: ArrayLike) -> NDArray[np.int8]:
        """The code of every row: 0 or 1 in each of ``n_components`` columns (for staircases, the level)."""
        rows = self._new_rows(X)
        return self.network_.levels(rows)[self.code_layer_].astype(np.int8)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """The rows that are reconstructed from codes."""
        check_is_fitted(self)
        codes = check_array(X, dtype=FLOATS)
        layer = self.network_.layers[self.code_layer_]
        n_levels = len(layer.activation.values)
        if codes.shape[1] != layer.width or not np.isin(codes, np.arange(n_levels)).all():
            raise InvalidInputError(
                f"codes must have {layer.width} columns of numbers from 0 to {n_levels - 1}, as transform returns; got "
                f"shape {codes.shape}."
            )
        above = Network(self.network_.layers[self.code_layer_ + 1 :])
        return np.asarray(above.predict(layer.outputs(codes.astype(np.int16))))

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """The share of the variance of the rows that their codes keep: 1 for a perfect reconstruction."""
        rows = self._new_rows(X)
        lost = ((self.network_.predict(rows) - rows) ** 2).sum()
        return float(1.0 - lost / max(((rows - rows.mean(axis=0)) ** 2).sum(), 1e-300))

    @property
    def used_features(self) -> tuple[int, ...]:
        """All features, since all are reconstructed."""
        check_is_fitted(self)
        return tuple(range(self.network_.n_features))

    @property
    def _n_features_out(self) -> int:
        return self.network_.widths[self.code_layer_]

    def _checked(self, X: ArrayLike, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        if reset:
            self._keep_columns()
        rows = validate_data(self, X, reset=reset, dtype=FLOATS)
        return rows, rows, checked_weights(sample_weight, rows)

    def _restore_targets(self, targets: dict[str, Any]) -> None:
        self.code_layer_ = len(checked_hidden(self.hidden))
        network = self.network_
        if network.widths[self.code_layer_] != self.n_components or network.widths[-1] != network.n_features:
            raise ModelFileError("network and code do not match")

    def _problem_from(self, rows: Any, y: Any, weights: Any, radii: Any = None) -> Problem:
        if not is_integer(self.n_components) or self.n_components < 1:
            raise InvalidInputError(f"n_components={self.n_components!r} must be a positive integer, such as 16.")
        encoder = checked_hidden(self.hidden)
        decoder = encoder[::-1] if self.decoder is None else checked_hidden(self.decoder)
        self.code_layer_ = len(encoder)
        architecture = Architecture.of(
            rows.shape[1],
            (*encoder, int(self.n_components), *decoder),
            self.threshold,
            self.weights,
            self.activation,
            IDENTITY,
            rows.shape[1],
        )
        return self._problem_of(Dataset.from_numbers(rows, rows, weights), architecture, "numbers")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # codes are bits
        return tags

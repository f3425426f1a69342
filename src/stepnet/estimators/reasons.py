"""What classifiers say about their answers."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from stepnet.reasons.counterfactual import Counterfactual, counterfactual
from stepnet.reasons.explanation import Explanation, Explanations, explain
from stepnet.reasons.importance import Importance, importance


class Reasons:
    """Methods of classifiers; the functions of the same names take pipelines too."""

    def explain(self, X: Any) -> Explanation | Explanations:
        """Why rows get their answers: which neurons are on, what they add, which of them the answer depends on.

        Parameters
        ----------
        X : array-like of shape (n_features,) or (n_rows, n_features)
            One row, or several; what is returned prints itself, several rows as a table.
        """
        check_is_fitted(self)
        return explain(self, X)

    def counterfactual(
        self,
        x: Any,
        *,
        classes: Any = None,
        norm: str = "l1",
        fixed: Any = (),
        integer: Any = (),
        cost: Any = None,
        low: Any = None,
        high: Any = None,
    ) -> Counterfactual:
        """The cheapest change of a row that changes its answer, with the proof that none is cheaper.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            A row.
        classes, norm, fixed, integer, cost, low, high
            As for :func:`stepnet.counterfactual`.
        """
        check_is_fitted(self)
        options: Any = {"fixed": fixed, "integer": integer, "cost": cost, "low": low, "high": high}
        return counterfactual(self, x, classes=classes, norm=norm, **options)

    def importance(self, X: Any, *, integer: Any = (), low: Any = None, high: Any = None) -> Importance:
        """Which features can change the answer for each row, one at a time; exact.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        integer, low, high
            As for :func:`stepnet.importance`.
        """
        check_is_fitted(self)
        return importance(self, X, integer=integer, low=low, high=high)

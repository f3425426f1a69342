"""StepRegressor: step neurons below, numbers on top."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from stepnet.estimators.online import OnlineStep
from stepnet.estimators.regressor import BaseStepRegressor


@dataclass(eq=False, repr=False)
class StepRegressor(OnlineStep, BaseStepRegressor):
    """A regressor of step neurons and a last layer of real weights, with a proof of how good it is.

    Parameters
    ----------
    hidden : tuple of int or "auto", default=(25,)
        Widths of the hidden layers, at least one; ``"auto"`` chooses one width by held-out rows.
    weights : "real", "binary", "sign", "ternary" or Integers(P), or a tuple of them, default="real"
        Values that the weights of the step neurons may take. Weights of the last layer are real.
    threshold : "neuron", "layer" or float, default="neuron"
        Thresholds of the step neurons: one learned per neuron, one per layer, or a fixed number for all.
    activation : "step", "sign" or Staircase, default="step"
        The outputs of hidden neurons.
    loss : "squared", "absolute", Squared(ridge=..., bound=...) or Absolute(bound=...), default="squared"
        What training minimises, summed over rows and outputs. ``ridge`` times the squared weights of the
        last layer is added; none of these weights is larger than ``bound``.
    intercept : bool, default=True
        Whether outputs have one.
    sparsity : int, tuple or None, default=None
        The largest number of non-zero weights in total, output included, or per layer (None: any).
    constraints : sequence of Constraint, Raises and Lowers, default=None
        Linear constraints on weights.
    uncertainty : Ball, Polyhedron or None, default=None
        How far rows may be perturbed. Training then minimises the loss under the worst-case perturbations.
    method : "learn", "prove", "search", "exact", "alternating" or a method object, default="learn"
        ``"learn"`` for good predictions of new rows, ``"prove"`` for the smallest training loss with a proof.
    time_limit : float, default=60
        Seconds for the whole fit. The best verified network so far is kept.
    gap : float, default=0
        Stop when (loss - bound) / loss is at most this.
    n_jobs : int, default=1
        Parallel jobs, and threads of solvers.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 shows progress on standard error.
    on_interrupt : "raise" or "keep", default="raise"
        What Ctrl-C does once the best network so far is kept; see :class:`StepClassifier`.

    Attributes
    ----------
    network_ : Network
        The trained network, in the units of ``X`` and ``y``.
    certificate_ : Certificate
        Verified loss, bound, gap, status, scope, proof. Losses count as equal if they differ by less than
        four millionths of the loss of the best constant.
    result_ : Result
    hidden_ : tuple of int
        The widths that ``hidden="auto"`` chose; ``held_out_`` has the held-out loss of each width tried.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    Examples
    --------
    >>> from stepnet import StepRegressor
    >>> stairs = StepRegressor(hidden=(2,), method="prove", random_state=0)
    >>> stairs = stairs.fit([[1], [2], [3], [4], [5]], [7, 7, 2, 2, 4])
    >>> stairs.certificate_.status, stairs.predict([[1], [3], [9]]).round(6).tolist()
    ('OPTIMAL', [7.0, 2.0, 4.0])
    """

    hidden: tuple[int, ...] | str = (25,)
    _: KW_ONLY
    loss: Any = "squared"
    intercept: bool = True
    uncertainty: Any = None

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on a batch of rows after those of earlier calls.

        With ``method="learn"`` training goes on with the current weights, and no rows are kept; the certificate is
        about the last batch. Other methods keep the rows and train on all of them, with the current network as warm
        start.
        """
        return self._add(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Proofs are about the training rows, and small networks are coarse.
        tags.regressor_tags.poor_score = self.method != "learn"
        return tags

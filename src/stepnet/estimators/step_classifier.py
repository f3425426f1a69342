"""StepClassifier: one step network."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from stepnet.certify import certify
from stepnet.estimators.base import BaseStepClassifier, checked_method, checked_n_jobs
from stepnet.methods.base import Method, Run
from stepnet.network import Network
from stepnet.progress import Callback
from stepnet.view import showing


class StepClassifier(BaseStepClassifier):
    """A classifier for two classes made of step neurons, with a proof of how good it is.

    Parameters
    ----------
    hidden : tuple of int, default=(25,)
        Widths of the hidden layers; ``()`` is a single neuron.
    weights : "real", "ternary" or Integers(P), default="real"
        Values that the weights may take.
    threshold : "neuron", "layer" or float, default="neuron"
        One learned threshold a neuron, one a layer, or a fixed number for all.
    method : "prove", "learn", "search", "exact" or a method object, default="prove"
        ``"prove"`` for the smallest training loss with a proof, ``"learn"`` for accuracy on new data,
        or an object with options such as ``Exact(formulation="tight", solver="scip")``.
    time_limit : float, default=60
        Seconds for the whole fit. The best verified network so far is kept.
    gap : float, default=0
        Stop when (loss - bound) / loss is not above it.
    n_jobs : int, default=1
        Jobs for independent pieces of work, and threads of solvers; -1 for all cores, None for what
        joblib is configured for.
    random_state : int, RandomState instance or None, default=None
        Same data, same number, one thread and no stop by the time limit: the same network.
    verbose : int, default=0
        1 shows progress on standard error: a live line with a bar on a terminal, lines elsewhere.

    Attributes
    ----------
    network_ : Network
        The trained network, in the units of ``X``.
    certificate_ : Certificate
        Verified loss, bound, gap, status, scope, proof.
    result_ : Result
        The certificate's raw material, with the trace of losses and bounds over time.
    classes_ : ndarray of shape (2,)
        The class of the output bit 0, then that of 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    Examples
    --------
    >>> from stepnet import StepClassifier
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = StepClassifier(hidden=(2,), random_state=0).fit(xor, ["even", "odd", "odd", "even"])
    >>> clf.certificate_.loss, clf.certificate_.status, clf.certificate_.scope
    (0.0, 'OPTIMAL', 'all networks')
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (25,),
        *,
        weights: Any = "real",
        threshold: str | float = "neuron",
        method: str | Method = "prove",
        time_limit: float = 60.0,
        gap: float = 0.0,
        n_jobs: int | None = 1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.weights = weights
        self.threshold = threshold
        self.method = method
        self.time_limit = time_limit
        self.gap = gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        start: Network | None = None,
        on_incumbent: Callback | None = None,
    ) -> StepClassifier:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes of any type.
        sample_weight : array-like of shape (n_samples,), optional
            What it costs to misclassify a row.
        start : Network, optional
            A network to begin with.
        on_incumbent : callable, optional
            Called with a :class:`~stepnet.progress.Progress` for every better network or bound and
            now and then in a long stage; returning True ends the fit.
        """
        budget = self._budget()
        method = checked_method(self.method)
        problem = self._problem(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        run = Run(problem, budget, checked_n_jobs(self.n_jobs), seed)
        with budget.catching_interrupts(), showing(budget.time_limit) if self.verbose else nullcontext() as show:
            run.callbacks = tuple(callback for callback in (show, on_incumbent) if callback is not None)
            method.work(run, start)
        self.result_ = run.result()
        self.network_ = self.result_.network
        self.certificate_ = certify(problem, self.result_)
        return self

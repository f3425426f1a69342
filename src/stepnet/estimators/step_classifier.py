"""StepClassifier: one step network."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import Any

from numpy.typing import ArrayLike

from stepnet.bounds.bound import Bound
from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_n_jobs
from stepnet.estimators.checkpoint import Checkpoint
from stepnet.estimators.classifier import BaseStepClassifier, vote_problem, vote_result
from stepnet.estimators.online import OnlineMixin
from stepnet.estimators.pairs import train_pairs
from stepnet.methods.base import Method
from stepnet.methods.registry import method_of
from stepnet.model.network import Network
from stepnet.model.votes import pairwise_votes
from stepnet.problem.problem import Problem
from stepnet.provers.pool import Pool
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback
from stepnet.runtime.view import showing


class StepClassifier(OnlineMixin, BaseStepClassifier):
    """A classifier made of step neurons, with a proof of how good it is.

    Parameters
    ----------
    hidden : tuple of int, default=(25,)
        Widths of the hidden layers; ``()`` is a single neuron.
    weights : "real", "binary", "sign", "ternary" or Integers(P), or a tuple of them, default="real"
        Values that the weights may take: {0, 1}, {-1, 1}, {-1, 0, 1}, {-P, ..., P}; in all layers, or
        one choice a layer, the output layer included.
    threshold : "neuron", "layer" or float, default="neuron"
        One learned threshold a neuron, one a layer, or a fixed number for all.
    activation : "step", "sign" or Staircase, default="step"
        What hidden neurons hand on: {0, 1}, {-1, 1} or the values of a staircase.
    output : "one_vs_one", "one_hot" or "ordinal", default="one_vs_one"
        How a network tells more than two classes apart: a network for each pair and a vote; one output
        neuron a class, of which the largest answers; one output neuron with a threshold between any
        two neighbouring classes. Ties go to the first class.
    loss : "misclassified", "hinge", Hinge(bound=...) or another loss, default="misclassified"
        What training makes small: the weight of wrong rows, or for two classes by how much the value of
        the output misses 1 or -1.
    sparsity : int, tuple, "fewest" or None, default=None
        The largest number of non-zero weights in all layers, output included, or in each layer (None: any);
        ``"fewest"`` finds the fewest that have the least loss.
    constraints : sequence of Constraint, Raises and Lowers, default=None
        Linear constraints on weights, such as ``Raises("age")``: this input may only raise the score.
    uncertainty : Ball, Polyhedron or None, default=None
        How far rows may be moved. Then training makes the loss after the worst moves small.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of rows by their class.
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
    classes_ : ndarray
        The class of each code that the network answers.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    See Also
    --------
    StepRegressor : Numbers instead of classes.
    StepEnsembleClassifier : Several learned networks that vote.

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
        activation: Any = "step",
        output: str = "one_vs_one",
        loss: Any = "misclassified",
        sparsity: Any = None,
        constraints: Any = None,
        uncertainty: Any = None,
        class_weight: Any = None,
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
        self.activation = activation
        self.output = output
        self.loss = loss
        self.sparsity = sparsity
        self.constraints = constraints
        self.uncertainty = uncertainty
        self.class_weight = class_weight
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
        radius: ArrayLike | None = None,
        on_incumbent: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> StepClassifier:
        """Train.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two or more classes of any type.
        sample_weight : array-like of shape (n_samples,), optional
            What it costs to misclassify a row.
        start : Network, optional
            A network to begin with.
        radius : float or array-like of shape (n_samples,), optional
            How far each row may be moved, in place of the radius of ``uncertainty``.
        on_incumbent : callable, optional
            Called with a :class:`~stepnet.runtime.progress.Progress` for every better network or bound and
            now and then in a long stage; returning True ends the fit. With several classes and
            ``output="one_vs_one"``, for every pair that is done, without a loss.
        checkpoint : path, optional
            A file that always holds the best verified network, bound and trace; written whole or not at all.
        resume : bool
            Whether to go on from the checkpoint, if it is there; it must be of the same data and options.
        """
        self._fit(X, y, sample_weight, start, on_incumbent, radius, checkpoint, resume)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> StepClassifier:
        """Add rows to those of earlier calls and train on all of them.

        The network so far is the start and what was proven for it still holds, so the result is that
        of a fit on all rows, sooner. :meth:`forget` drops rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array-like, optional
            All classes, given to the first call if its rows do not have all of them.
        """
        self._add(X, y, sample_weight, classes)
        return self

    def _solve(
        self,
        problem: Problem,
        budget: Budget,
        start: Network | None,
        on_incumbent: Callback | None = None,
        known: Bound | None = None,
        pool: Pool | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        """One network, or for several classes one for each pair of them and their vote as one network."""
        n_classes = len(self.classes_)
        if not self._votes:
            super()._solve(problem, budget, start, on_incumbent, known, pool, checkpoint)
            return
        starts = getattr(self, "_pair_networks", None)
        if start is not None and (starts is None or start is not self.network_):
            raise InvalidInputError("start= is not possible with output='one_vs_one'. Use output='one_hot'.")
        method, n_jobs = method_of(self.method), checked_n_jobs(self.n_jobs)
        with budget.catching_interrupts(), showing(budget.remaining) if self.verbose else nullcontext() as show:
            callbacks = [callback for callback in (show, on_incumbent) if callback is not None]
            starts = None if start is None else starts
            networks = train_pairs(
                problem, n_classes, method, self._seed(), budget, n_jobs, starts, checkpoint, callbacks
            )
        network = pairwise_votes(networks, n_classes)
        votes = vote_problem(problem, network)
        self._keep(vote_result(votes, network, budget), votes)
        self._pair_networks = networks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Proofs are about the training rows; on pure noise they fit it, as they should.
        tags.classifier_tags.poor_score = self.method != "learn"
        return tags

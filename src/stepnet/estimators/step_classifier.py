"""StepClassifier: one step network."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_n_jobs
from stepnet.estimators.checkpoint import Checkpoint
from stepnet.estimators.classifier import BaseStepClassifier, vote_problem, vote_result
from stepnet.estimators.online import OnlineStep
from stepnet.estimators.pairs import train_pairs
from stepnet.methods.learn import descends
from stepnet.methods.registry import method_of
from stepnet.model.network import Network
from stepnet.model.votes import pairwise_votes
from stepnet.problem.problem import Problem
from stepnet.runtime.limits import Budget
from stepnet.runtime.progress import Callback
from stepnet.runtime.view import showing


@dataclass(eq=False, repr=False)
class StepClassifier(OnlineStep, BaseStepClassifier):
    """A classifier made of step neurons, with a proof of how good it is.

    Parameters
    ----------
    hidden : tuple of int or "auto", default=(25,)
        Widths of the hidden layers; ``()`` is a single neuron; ``"auto"`` chooses the smallest width that is within
        one standard error of the best on held-out rows.
    weights : "real", "binary", "sign", "ternary" or Integers(P), or a tuple of them, default="real"
        Values that the weights may take: any, {0, 1}, {-1, 1}, {-1, 0, 1} or {-P, ..., P}; one choice for all
        layers, or one per layer, output included.
    threshold : "neuron", "layer" or float, default="neuron"
        One learned threshold per neuron, one per layer, or a fixed number for all.
    activation : "step", "sign" or Staircase, default="step"
        The outputs of hidden neurons: {0, 1}, {-1, 1} or the values of a staircase.
    output : "auto", "one_hot", "one_vs_one" or "ordinal", default="auto"
        How more than two classes are predicted: ``"one_hot"`` by one output neuron per class, of which the largest
        wins; ``"one_vs_one"`` by a vote of one network per pair of classes; ``"ordinal"`` by one output neuron with a
        threshold between any two neighbouring classes. ``"auto"`` is ``"one_vs_one"``, but for networks that are
        learned without ``sparsity`` it is ``"one_hot"`` with the neurons of ``hidden`` for every two classes: five
        times as many for ten of them.
        Ties go to the first class.
    loss : "misclassified", "hinge", Hinge(bound=...) or another loss, default="misclassified"
        What training minimises: the weight of misclassified rows, or for two classes by how much the value of
        the output misses 1 or -1.
    sparsity : int, tuple, "fewest" or None, default=None
        The largest number of non-zero weights in total, output included, or per layer (None: any);
        ``"fewest"`` looks for the fewest with the smallest loss, and ``method="prove"`` proves it.
    constraints : sequence of Constraint, Raises, Lowers, Recall, Precision, FalsePositiveRate, ..., default=None
        Linear constraints on weights, such as ``Raises("age")``: this input may only raise the score; and limits on
        errors of the training rows, such as ``Recall("ill", at_least=0.95)`` or ``Parity(by="sex", within=0.03)``.
    uncertainty : Ball, Polyhedron or None, default=None
        How far rows may be perturbed. Training then minimises the loss under the worst-case perturbations.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of rows by their class.
    probability : "auto", "sigmoid", "isotonic" or None, default="auto"
        How values become probabilities: by a slope from values of rows that the network was not trained on
        (``"sigmoid"``), by rising shares of any shape (``"isotonic"``, two classes), or not at all (None).
        ``"auto"`` is a slope from the training rows where that is as good: for learned networks, and where there are
        many rows per weight.
    method : "learn", "prove", "search", "exact" or a method object, default="learn"
        ``"learn"`` for accuracy on new rows, ``"prove"`` for the smallest training loss with a proof,
        or an object with options such as ``Exact(formulation="tight", solver="scip")``.
    time_limit : float, default=60
        Seconds for the whole fit. The best verified network so far is kept.
    gap : float, default=0
        Stop when (loss - bound) / loss is at most this.
    n_jobs : int, default=1
        Parallel jobs: restarts, and two processes or more threads of a solver for a proof; -1 for all cores, None
        for what joblib is configured for.
    random_state : int, RandomState instance or None, default=None
        With an int, one thread and no stop by the time limit, the same data give the same network.
    verbose : int, default=0
        1 shows progress on standard error: a live line with a bar on a terminal, plain lines elsewhere; 2 also
        prints the plan.
    on_interrupt : "raise" or "keep", default="raise"
        Ctrl-C ends the fit with the best verified network so far. ``"raise"`` keeps it and raises
        KeyboardInterrupt, so that loops around the fit end too; ``"keep"`` returns as usual.

    Attributes
    ----------
    network_ : Network
        The trained network, in the units of ``X``.
    certificate_ : Certificate
        Verified loss, bound, gap, status, scope, proof.
    result_ : Result
        What the certificate is based on, with the trace of losses and bounds over time.
    hidden_ : tuple of int
        The widths that ``hidden="auto"`` chose; ``held_out_`` has the held-out loss of each width tried.
    classes_ : ndarray
        The class of each code that the network predicts.
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
    >>> clf = StepClassifier(hidden=(2,), method="prove", random_state=0).fit(xor, ["even", "odd", "odd", "even"])
    >>> clf.certificate_.loss, clf.certificate_.status, clf.certificate_.scope
    (0.0, 'OPTIMAL', 'all networks')
    """

    hidden: tuple[int, ...] | str = (25,)
    _: KW_ONLY
    output: str = "auto"
    loss: Any = "misclassified"
    uncertainty: Any = None
    class_weight: Any = None
    probability: str | None = "auto"

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on a batch of rows after those of earlier calls.

        With ``method="learn"`` training goes on with the current weights, and no rows are kept: some passes over this
        batch, so that a loop over batches learns from any number of rows. The certificate is about the last batch.
        Batches should be in random order; rows that are sorted by class make the network forget.

        With other methods, and with ``output="one_vs_one"``, rows are kept: the result is that of a fit on all rows,
        sooner, since the bound of the current network still holds and the network is the warm start. :meth:`forget`
        drops rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array-like, optional
            All classes; needed in the first call if its rows do not have all of them.
        """
        return self._add(X, y, sample_weight, classes)

    def _solve(
        self,
        problem: Problem,
        budget: Budget,
        start: Network | None,
        on_incumbent: Callback | None = None,
        checkpoint: Checkpoint | None = None,
        **carried: Any,
    ) -> None:
        """One network, or one per pair of classes and their vote as one network."""
        if not self._votes:
            super()._solve(problem, budget, start, on_incumbent, checkpoint, **carried)
            return
        n_classes, starts = len(self.classes_), getattr(self, "_pair_networks", None)
        if start is not None and (starts is None or start is not self.network_):
            raise InvalidInputError(
                "start= is not possible with output='one_vs_one', a network per pair of classes. Use output='one_hot'."
            )
        starts = None if start is None else starts
        method, n_jobs, seed = method_of(self.method), checked_n_jobs(self.n_jobs), self._seed()
        with showing(budget.remaining) if self.verbose else nullcontext() as show:
            callbacks = [callback for callback in (show, on_incumbent) if callback is not None]
            networks = train_pairs(problem, n_classes, method, seed, budget, n_jobs, starts, checkpoint, callbacks)
            network = pairwise_votes(networks, n_classes)
            votes = vote_problem(problem, network)
            self._keep(vote_result(votes, network, budget, is_learned=descends(method, problem)), votes, budget)
        self._pair_networks = networks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Proofs are about the training rows; pure noise is fitted, as it should be.
        tags.classifier_tags.poor_score = self.method != "learn"
        return tags

"""StepEnsembleClassifier: several kinds of learned step networks, added up to one."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from numpy.typing import ArrayLike

from stepnet.errors import InvalidInputError
from stepnet.estimators.base import checked_n_jobs
from stepnet.estimators.classifier import BaseStepClassifier, vote_problem, vote_result
from stepnet.estimators.ensemble import Ensemble
from stepnet.estimators.robust_votes import train_votes
from stepnet.methods.base import Method
from stepnet.methods.learn import Learn, descends
from stepnet.model.calibration import Calibration
from stepnet.model.network import Network
from stepnet.problem.dataset import Dataset
from stepnet.runtime.view import showing


@dataclass(eq=False, repr=False)
class StepEnsembleClassifier(Ensemble, BaseStepClassifier):
    """A committee of learned step networks and boosted trees whose sum is itself one step network.

    Each member is trained without another part of the rows. What it says about these rows decides how much its kind
    counts, so that the sum is calibrated: :meth:`predict_proba` needs no rows of its own. A tree is a step network too,
    so the committee has one network with two hidden layers, and a certificate like any other.

    Parameters
    ----------
    n_estimators : int, default=5
        Members of each kind; with fewer than 5 each still leaves a fifth of the rows out.
    kinds : tuple of "oblique", "trees" and "bits", default=("oblique", "trees")
        What the members are: networks whose neurons look at all features, with strong and with little
        regularisation; boosted trees, whose neurons look at one feature each; networks on bits
        ``feature >= cut``.
    hidden : tuple of int, default=(50,)
        Hidden widths of each member that is not a tree.
    method : Learn or None, default=None
        How members that are not trees are trained. With ``uncertainty``, how all members are trained: any method
        object, None for ``Learn()``.
    uncertainty : Ball, Polyhedron or None, default=None
        How far rows may be perturbed. Members are then trained for the worst case, each on rows drawn at random, and
        vote; the certificate states the worst case of the vote.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of rows by their class.
    time_limit : float, default=60
        Seconds for the whole fit.
    n_jobs : int, default=1
        Members trained in parallel; -1 for all cores, None for what joblib is configured for, such as a
        Dask cluster. The network does not depend on it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
        1 shows progress on standard error.
    on_interrupt : "raise" or "keep", default="raise"
        What Ctrl-C does once the sum of the members so far is kept; see :class:`StepClassifier`.

    Attributes
    ----------
    network_ : Network
        The sum of the members as one network.
    members_ : list of Network
        Their numbers add up to those of ``network_``, exactly. With ``uncertainty``, the networks that vote.
    certificate_ : Certificate
        Of the sum; its bound needs no solver and holds for every classifier.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them

    See Also
    --------
    StepClassifier : One network.
    StepEnsembleRegressor : The same for numbers.
    """

    n_estimators: int = 5
    _: KW_ONLY
    uncertainty: Any = None
    class_weight: Any = None

    loss = "misclassified"

    @property
    def output(self) -> str:
        """How several classes are predicted: by one sum per class; by votes on pairs of them if rows are uncertain."""
        return "one_hot" if self.uncertainty is None else "one_vs_one"

    @property
    def is_vote(self) -> bool:
        """Whether members vote, as they do if rows are uncertain and in files of earlier versions."""
        last = self.network_.layers[-1]
        return self.uncertainty is not None or (len(self.network_.layers) > 1 and bool((last.weights == 1).all()))

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, radius: ArrayLike | None = None
    ) -> Self:
        """Train the members and add them up; ``radius`` as for :meth:`StepClassifier.fit`."""
        if self.uncertainty is None and radius is None:
            return super().fit(X, y, sample_weight)
        n_members, n_jobs, method = self._n_members(), checked_n_jobs(self.n_jobs), self._robust_method()
        with self._training() as budget:
            problem = self._problem(X, y, sample_weight, radius)
            with showing(budget.remaining) if self.verbose else nullcontext() as show:
                self.members_, network = train_votes(
                    problem, len(self.classes_), n_members, method, self._seed(), budget, n_jobs, show
                )
                votes = vote_problem(problem, network)
                self._keep(vote_result(votes, network, budget, is_learned=descends(method, problem)), votes, budget)
        return self

    def _calibrated(self, network: Network, dataset: Dataset, *, are_log_odds: bool) -> Calibration:
        """Sums are log-odds already, fitted to rows that members were not trained on."""
        if self.uncertainty is not None or network is self.members_[0]:
            return super()._calibrated(network, dataset, are_log_odds=False)
        return Calibration(1.0, (0.0,) * network.widths[-1])

    def _robust_method(self) -> Method:
        method: Any = self.method or Learn()
        if not isinstance(method, Method):
            raise InvalidInputError(f"method={method!r} must be a method object such as Prove(), or None.")
        return method

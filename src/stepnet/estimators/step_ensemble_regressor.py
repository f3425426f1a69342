"""StepEnsembleRegressor: several kinds of learned step networks for numbers, added up to one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from stepnet.estimators.ensemble import Ensemble
from stepnet.estimators.regressor import BaseStepRegressor


@dataclass(eq=False, repr=False)
class StepEnsembleRegressor(Ensemble, BaseStepRegressor):
    """A committee of learned step networks and boosted trees for numbers; their sum is itself one step network.

    Each member is trained without another part of the rows, and what it says about these rows decides how much its
    kind counts.

    Parameters
    ----------
    n_estimators : int, default=5
        Members of each kind; with fewer than 5 each still leaves a fifth of the rows out.
    kinds : tuple of "oblique", "trees" and "bits", default=("oblique", "trees")
        What the members are, as for :class:`StepEnsembleClassifier`.
    hidden : tuple of int, default=(50,)
        Hidden widths of each member that is not a tree.
    method : Learn or None, default=None
        How members that are not trees are trained.
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
        Their numbers add up to those of ``network_``.
    certificate_ : Certificate
        Of the sum; its bound needs no solver and holds for every regressor.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if ``X`` had them
    """

    n_estimators: int = 5
    _: KW_ONLY

    loss = "squared"
    intercept = True

"""A loss of answers, a loss of values and an output that are not of the house: those of the how-to pages."""

from documentation import defined_in
from stepnet import Alternating, Exact, Prove
from stepnet.formulations.registry import FORMULATIONS
from stepnet.provers.registry import PROVERS

_LOSSES, _OUTPUTS = defined_in("how_to/add_loss.md"), defined_in("how_to/add_output.md")
Distance, Quantile, First = _LOSSES["Distance"], _LOSSES["Quantile"], _OUTPUTS["First"]

AVAILABLE = [name for name, prover in PROVERS.items() if prover.is_available()]
# All methods that never leave a problem to the search alone, by name; of the ways to an exact answer, each by itself.
BEYOND_SEARCH = {
    "prove": Prove(),
    "alternating": Alternating(),
    **{name: Exact(formulation=name) for name in ("auto", *AVAILABLE, *FORMULATIONS)},
}

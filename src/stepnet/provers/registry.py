"""The provers by name."""

from __future__ import annotations

from stepnet.provers.base import Prover
from stepnet.provers.branches import Branches
from stepnet.provers.cells import Cells
from stepnet.provers.cones import Cones
from stepnet.provers.counting import Counting
from stepnet.provers.one_neuron import OneNeuron
from stepnet.provers.sat import Sat

PROVERS: dict[str, Prover] = {
    prover.name: prover for prover in (Cells(), Branches(), Cones(), OneNeuron(), Counting(), Sat())
}

"""The proofs by name."""

from __future__ import annotations

from stepnet.proofs.base import Proof
from stepnet.proofs.cells import Cells
from stepnet.proofs.one_neuron import OneNeuron
from stepnet.proofs.sat import Sat

PROOFS: dict[str, Proof] = {proof.name: proof for proof in (Cells(), OneNeuron(), Sat())}

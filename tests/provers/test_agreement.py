"""Independent ways to an optimum agree: cells, cones, sat, one_neuron, gates and brute force."""

import pytest

from agreement import disagreements, instance

_AT_ONCE = 12


@pytest.mark.parametrize("batch", [0, *(pytest.param(batch, marks=pytest.mark.slow) for batch in range(1, 8))])
def test_all_ways_agree_on_random_instances(batch):
    for seed in range(_AT_ONCE * batch, _AT_ONCE * (batch + 1)):
        found = disagreements(instance(seed), with_gates=seed % 8 == 0)
        assert not found, f"seed {seed}: {found}"

"""One neuron whose weights are integers or few: its moves, its starts and its search."""

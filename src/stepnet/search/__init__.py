"""Heuristics: local search for the training loss, descent for new rows, polishing of what was found."""

"""Activations: how a layer turns its sums a = w·h into outputs, one file per activation.

A staircase has levels and may be used in any layer. The last layer may instead answer with the index of the largest
a - t (argmax), or with a - t itself (identity).
"""

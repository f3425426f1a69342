"""Activations: what a layer makes of its values a = w·h, one file each.

A staircase has levels, and any layer may have it. The last layer may instead answer by the largest a - t (argmax)
or give a - t itself (identity).
"""

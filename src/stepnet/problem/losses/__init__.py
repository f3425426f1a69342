"""Losses: what a network pays for its answers, one file per loss.

A loss of answers depends only on the class that each row is given. A loss of values depends on z = w·h - t of the last
layer: squared and absolute errors of numbers, and the hinge loss for two classes.
"""

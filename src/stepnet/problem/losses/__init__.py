"""Losses: what a network pays for its answers, one file each.

A loss of answers reads which class a row was given. A loss of values reads z = w·h - t of the last layer: squared
and absolute errors of numbers, and for two classes the hinge.
"""

"""Exact answers over the sets of rows that neurons get right, without a program."""

"""Exact line searches, one neuron at a time."""

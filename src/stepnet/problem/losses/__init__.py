"""Losses, and the best last layer of each."""

"""Proofs without weights, margins or big-M: neurons as the sets of rows that they get right."""

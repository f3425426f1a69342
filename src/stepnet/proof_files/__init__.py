"""Proofs on disk: how they are written, and checked independently of the writer."""

"""Proofs on disk: written, and checked without the writer."""

"""Boosted trees on binned rows."""

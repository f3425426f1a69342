"""Limits on errors: recall, precision, false positives and parity between groups, linear in the errors of rows."""

"""The five sections of a report in words, tables and figures."""

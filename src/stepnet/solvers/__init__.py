"""Sparse mixed-integer programs: the model, the files, the solvers."""

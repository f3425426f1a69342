"""The environment of a fit: clock and limits, progress, memory, files, threads, compiled kernels."""

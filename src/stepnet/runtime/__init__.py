"""The surroundings of a fit: clock and limits, progress, memory, files, threads, compiled kernels."""

"""One file per solver."""

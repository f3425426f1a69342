"""One file per norm, and their names in a registry."""

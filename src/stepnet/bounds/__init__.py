"""Lower bounds: their scope and evidence, and bounds that need no search."""

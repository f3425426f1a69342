"""Lower bounds: what one is, and those that cost next to nothing."""

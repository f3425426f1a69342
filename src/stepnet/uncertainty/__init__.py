"""How far rows may be perturbed, and the exact adversary who does it."""

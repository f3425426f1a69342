"""How far rows may be perturbed, and exact worst-case perturbations."""

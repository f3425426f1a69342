"""Networks: layers, activations, exact arithmetic, and rules in words."""

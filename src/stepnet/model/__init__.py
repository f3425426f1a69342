"""Networks: layers, activations, exact arithmetic, and the words for them."""

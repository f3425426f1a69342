"""Networks for new rows, by noisy straight-through gradients."""

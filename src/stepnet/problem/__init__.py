"""What is to be learned: rows, architecture, loss and constraints."""

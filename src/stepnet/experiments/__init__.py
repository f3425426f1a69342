"""The paper's experiments with our methods beside them (``stepnet reproduce``), and benchmark instances."""

"""The paper's experiments, ours beside them, and the instances of this field: what ``stepnet reproduce`` runs."""

"""Scorecards: rules on one feature each, points for them, and a threshold on the total."""

"""Estimators in the manner of scikit-learn, and files of fitted models."""

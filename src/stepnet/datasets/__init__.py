"""The data sets of the paper, bundled."""

from stepnet.datasets.breast_cancer import load_breast_cancer_wisconsin
from stepnet.datasets.random_data import make_paper_random

__all__ = ["load_breast_cancer_wisconsin", "make_paper_random"]

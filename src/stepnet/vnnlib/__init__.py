"""Properties of networks in the VNN-LIB format, and the decision whether some input has them."""

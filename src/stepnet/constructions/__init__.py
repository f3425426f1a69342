"""Networks that are built at once, without a search: constants, linear and robust neurons, votes, last layers."""

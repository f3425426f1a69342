"""Networks that are built directly, without a search: constants, linear and robust neurons, votes, last layers."""

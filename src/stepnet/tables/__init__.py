"""Tables of users: reading files, and how their columns become features."""

"""The link graph and what is computed on it."""

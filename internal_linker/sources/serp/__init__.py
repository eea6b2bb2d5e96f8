"""Search results for the main queries."""

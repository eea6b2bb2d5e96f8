"""Vectors for the texts of pages and queries."""

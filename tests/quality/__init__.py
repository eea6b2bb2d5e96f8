"""Relevance on editors' links must not fall."""

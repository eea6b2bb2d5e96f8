"""Relevance on the editors' own links must not fall."""

"""A blind reading of suggestions: a seeded sample, a sheet for two readers, and the figures of their verdicts."""

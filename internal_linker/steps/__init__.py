"""The steps of a run: pure functions, records in, new records out."""

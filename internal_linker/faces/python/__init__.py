"""The Python interface: every capability as a function that returns a record, for notebooks and scripts."""

"""The Python interface: every command as a function that returns a record, for notebooks and scripts."""

"""Hostile input: each case is put into a good project, which the real command line then runs."""

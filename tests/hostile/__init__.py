"""Input that nobody should have: each is put into a good project, and the real command line is let loose on it."""

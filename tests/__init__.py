"""Tests; `python -m tests.standins` starts the stand-in servers by hand."""

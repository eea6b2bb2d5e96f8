"""Benchmarks of speed and memory: `python -m tests.research.benchmarks`."""

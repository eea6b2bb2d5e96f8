"""Vectors that the user has already, in a file: CSV, Parquet or NumPy."""

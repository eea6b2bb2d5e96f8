"""Encoders: local models, word statistics, OpenAI's API, Dask workers, and files of vectors."""

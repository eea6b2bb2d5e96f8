"""A Dask scheduler and its workers: blocks of a join or texts in, lists or vectors out."""

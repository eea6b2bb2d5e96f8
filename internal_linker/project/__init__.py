"""A site's folder: one use case for each command, options in, a result record out."""

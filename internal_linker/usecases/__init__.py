"""One use case for each command: options in, a result record out."""

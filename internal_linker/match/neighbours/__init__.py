"""The k-NN join of all pages: exact, by inverted file, and incremental."""

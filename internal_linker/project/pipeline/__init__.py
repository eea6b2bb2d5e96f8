"""A run from pages to published links, the content brief, drift and diff."""

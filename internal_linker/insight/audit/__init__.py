"""The audit of a site's links, and the files that show it."""

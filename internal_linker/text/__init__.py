"""Natural language and HTML, as pure functions."""

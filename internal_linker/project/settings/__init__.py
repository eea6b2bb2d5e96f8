"""Settings: their declaration, sources, template and checks."""

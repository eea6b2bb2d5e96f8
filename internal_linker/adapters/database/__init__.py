"""What a run remembers, one durable thing a file, through SQLAlchemy Core."""

"""Files on disk: atomic replacement, locks, encodings and a spool for texts."""

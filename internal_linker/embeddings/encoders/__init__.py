"""Encoders that run on this computer: the packaged model, and word statistics."""

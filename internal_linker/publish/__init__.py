"""Accepted links put into the texts where they belong: Markdown, HTML, and WordPress blocks."""

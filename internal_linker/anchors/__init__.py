"""Anchor texts: where a link goes in a source's text, and with which words."""

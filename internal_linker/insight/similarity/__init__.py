"""Pairs of similar pages, and clusters."""

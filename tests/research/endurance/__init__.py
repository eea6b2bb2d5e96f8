"""Trials behind the README's promises: the real program with kills, failing services and active editors."""

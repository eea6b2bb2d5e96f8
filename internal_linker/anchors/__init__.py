"""The words of a link."""

"""Clusters of pages as one HTML file that needs nothing else: a map, a tree, and tables that say the same."""

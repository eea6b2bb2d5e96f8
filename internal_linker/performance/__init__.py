"""What links earn: search data matched to the pages of a site."""

"""Google Analytics: what its Data API says about the landing pages of a property."""

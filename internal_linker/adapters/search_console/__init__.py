"""Search Console: what the API says about a property, and its refusals as errors with a remedy."""

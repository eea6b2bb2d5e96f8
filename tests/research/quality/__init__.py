"""Tools that measure relevance, impact and reliability, and the results that they wrote."""

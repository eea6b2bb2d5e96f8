"""Research: measurements and trials that are no part of a tier of the tests."""

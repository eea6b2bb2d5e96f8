"""README, docs/ and .github/ checked against the code: examples run, tables are generated, links lead somewhere."""

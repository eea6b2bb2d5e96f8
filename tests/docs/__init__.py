"""README, docs/ and .github/ held to the code: examples run, tables are generated, links lead somewhere."""

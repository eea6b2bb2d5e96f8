"""CSV files: tables in, results out, each replaced whole."""

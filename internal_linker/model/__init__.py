"""The vocabulary: records, errors, ports, arrays and URLs."""

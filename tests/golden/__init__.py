"""The golden master: what the program writes and prints for six small projects, held against a committed record."""

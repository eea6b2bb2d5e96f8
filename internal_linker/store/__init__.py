"""The database in which runs remember what they paid for and what editors decided: one file per kind of record."""

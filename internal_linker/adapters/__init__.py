"""Files, tables, HTML, HTTP, services, compute and databases; library errors are translated here."""

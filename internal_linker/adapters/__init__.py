"""Files, tables, HTML, HTTP, services and compute; library errors are translated here."""

"""Google Sheets: one tab in as a table, links out into our own columns."""

"""Google Sheets: a client, the tab of the queries, and what keeps writes safe while others edit."""

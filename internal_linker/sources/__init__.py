"""What comes in: tables, crawls, websites, search results, and the clients of Google, OpenAI and WordPress."""

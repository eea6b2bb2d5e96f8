"""OpenAI and servers with its API: requests, errors, and the chat that picks anchors."""

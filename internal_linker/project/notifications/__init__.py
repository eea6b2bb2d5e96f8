"""Messages to people: mail, chats and webhooks."""

"""OpenAI, or a server that speaks its API: texts in, unit vectors out; a prompt in, a model's words out."""

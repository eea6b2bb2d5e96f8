"""OpenAI, or a server that speaks its embeddings API: texts in, unit vectors out."""

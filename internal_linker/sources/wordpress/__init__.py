"""WordPress over its REST API: reads posts, and writes the content of one after the other."""

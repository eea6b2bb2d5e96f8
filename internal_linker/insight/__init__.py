"""What a site is like and what its links earn: link graph, audit, similar pages, evaluation and impact."""

"""The site as a whole: link graph, audit, similar pages and clusters."""

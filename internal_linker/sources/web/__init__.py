"""Pages of a site, fetched from its server or saved as files, and what an import reads of them."""

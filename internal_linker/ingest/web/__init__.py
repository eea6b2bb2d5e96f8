"""Pages of a site, as saved files or from its server -> what an import reads of them."""

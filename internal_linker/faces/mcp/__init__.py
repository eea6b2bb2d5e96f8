"""Face for assistants: the use cases as tools of the Model Context Protocol."""

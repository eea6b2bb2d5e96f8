"""Which candidates become links: features, model, fusion, selection and allocation."""

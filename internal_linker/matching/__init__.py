"""Which pages are near each other: k-NN, TF-IDF, candidates and near-duplicates."""

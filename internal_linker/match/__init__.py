"""Which pages are near each other: encoders, k-NN, TF-IDF, candidates and near-duplicates."""

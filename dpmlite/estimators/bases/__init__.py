"""Base classes: the conventions of scikit-learn, families, mixtures, joined components."""

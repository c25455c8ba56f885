"""Raw documents to wiki, cards and gaps; the only package that may speak to a model."""

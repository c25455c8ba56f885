"""The documents in `raw/`: their inventory, segments, fingerprints and duplicates."""

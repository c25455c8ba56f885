"""Files a vault is made from; data only, read with importlib.resources."""

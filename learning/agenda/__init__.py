"""The reading agenda: what keeps being forgotten, and decisions on gaps."""

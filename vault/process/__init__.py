"""This process: its identity, signals and end."""

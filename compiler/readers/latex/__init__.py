"""The LaTeX reader."""

"""The version of retain."""

__version__ = "0.1.0"

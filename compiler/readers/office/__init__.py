"""Readers of office documents and e-books."""

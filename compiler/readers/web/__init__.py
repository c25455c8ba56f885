"""Web pages saved as Markdown clippings."""

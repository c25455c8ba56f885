"""Words, names, numbers and negation in running text, independent of any document format."""

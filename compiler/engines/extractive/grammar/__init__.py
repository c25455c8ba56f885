"""Grammar rules of the embedded engine: tags, clauses, definitions."""

"""Child processes that parse documents and run the embedded engine."""

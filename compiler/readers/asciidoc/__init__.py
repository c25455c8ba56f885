"""AsciiDoc documents."""

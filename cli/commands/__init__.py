"""One module a command: vault, sources, wiki, inbox."""

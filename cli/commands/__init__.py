"""Commands for the vault, its sources, the wiki and the inbox; one module per command, named after it."""

"""Commands that query, check and decide about the wiki; one module per command, named after it."""

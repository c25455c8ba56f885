"""Commands that create, upgrade and check a vault and its logs; one module per command, named after it."""

"""Commands that bring sources into the vault and compile them; one module per command, named after it."""

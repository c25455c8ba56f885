"""Settings of the vault and of the user."""

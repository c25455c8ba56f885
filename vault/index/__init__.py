"""The index: SQLite files that are made from the vault's text files, and made again whenever in doubt."""

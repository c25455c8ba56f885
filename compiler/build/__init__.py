"""One compile, from the files in `raw/` to the files of the vault."""

"""One file per screen; each is thin over what the rooms below give it."""

"""Commands that exchange cards with other programs: export, import, sync."""

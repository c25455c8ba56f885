"""Rules that look for what is wrong with a wiki, its cards and the links into it."""

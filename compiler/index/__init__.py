"""The index of the wiki, `.retain/wiki.sqlite3`: what the last build found out, so that the next need not."""

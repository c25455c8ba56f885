"""The readers: each makes source text of one kind of document; pure functions of bytes and a name."""

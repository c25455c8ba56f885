"""Work orders: the open questions of a build, answered by coding agents."""

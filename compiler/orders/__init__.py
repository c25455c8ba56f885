"""Work orders: the open questions of a build, which coding agents answer."""

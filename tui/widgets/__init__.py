"""Generic widgets; they know no screen and no app, and post messages."""

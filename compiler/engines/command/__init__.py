"""A program of the user's as the model of a compile: a prompt on its standard input, the answer on its output."""

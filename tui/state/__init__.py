"""State of the app that needs no Textual."""

"""What screens are made of; a widget knows no screen and no app, it posts a message."""

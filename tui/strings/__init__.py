"""The app's text in English, one module per screen."""

"""What the app says, in English: one file a screen. Screens and widgets hold no sentence of their own."""

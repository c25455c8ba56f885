"""Text for the screen: cleaning, formatting, redaction of keys, web addresses, differences."""

"""The ground floor: the nouns of a vault, their text forms, and the one hand that writes."""

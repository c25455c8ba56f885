"""The cards of a vault, indexed by deck, concept, topic and words."""

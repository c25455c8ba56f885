"""Export of cards, articles and filed answers as data to train a language model on."""

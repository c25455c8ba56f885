"""A review session: showing, rating, undoing, practising."""

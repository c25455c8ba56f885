"""Values that every stage of a compile shares."""

"""Text that is safe to show; web addresses; differences."""

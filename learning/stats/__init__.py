"""Statistics and forecasts."""

"""Engine for any server that speaks the Messages API."""

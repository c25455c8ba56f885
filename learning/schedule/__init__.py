"""What to study on a day: queue, limits and workload."""

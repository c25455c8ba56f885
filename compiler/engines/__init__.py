"""The engines that answer the typed requests of a compile."""

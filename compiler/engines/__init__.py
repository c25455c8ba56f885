"""The engines that answer the compiler's typed requests."""

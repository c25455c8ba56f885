"""The engines that compile: which are on this machine, which one is chosen, and what it costs."""

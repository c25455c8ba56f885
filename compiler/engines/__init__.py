"""The engines that answer the compiler's typed requests."""

VERSIONS = {"extractive": "extractive/2"}  # the engines there are, and the name each has in digests and files

"""Files on disk: guarded and durable writes, reads that follow no link, exports."""

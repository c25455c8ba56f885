"""Reading a finished vault: answering, verifying, tracing."""

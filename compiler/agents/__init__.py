"""Runs of coding agents: what is recorded before one starts, and what becomes of its work when it has ended."""

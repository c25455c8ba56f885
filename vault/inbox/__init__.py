"""Proposals that wait for the user's decision."""

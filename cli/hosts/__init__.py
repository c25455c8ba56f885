"""Settings and hooks for Claude Code and Codex."""

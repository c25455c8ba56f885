"""Commands and MCP tools for coding agents."""

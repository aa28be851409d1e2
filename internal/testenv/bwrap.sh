#!/usr/bin/env bash
# Installs bubblewrap, which the tests of bwrap mode need, where it is missing.
set -u
cd "$(dirname "$0")/../.."
. internal/testenv/apt
log=$PWD/.testenv/bwrap.log
mkdir -p .testenv
need bwrap bubblewrap >"$log" 2>&1
if command -v bwrap >/dev/null; then
	echo "bwrap: $(bwrap --version)"
else
	echo "bwrap: could not install bubblewrap: $(last_line "$log")"
fi

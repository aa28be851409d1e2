#!/bin/sh
# Installs bubblewrap, which the tests of bwrap mode need, where it is missing.
set -eu
if command -v bwrap >/dev/null 2>&1; then
	bwrap --version
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "bwrap.sh: install bubblewrap with this system's package manager" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root='sudo -n'
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get install -y --no-install-recommends bubblewrap >/dev/null 2>&1 || {
	$as_root apt-get update >/dev/null
	$as_root apt-get install -y --no-install-recommends bubblewrap >/dev/null
}
bwrap --version

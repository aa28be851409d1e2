#!/usr/bin/env bash
# Makes .testenv/python at the root of the repository: a Python with numpy,
# pandas, matplotlib and pillow, for the tests of providers/subprocess. From
# PyPI where pip reaches it, else from the distribution's packages.
#
# The interpreter behind it has to be one that other users can execute, since a
# root host runs programs as another user.
set -u
cd "$(dirname "$0")/../.."
env=$PWD/.testenv/python
log=$PWD/.testenv/python.log
mkdir -p .testenv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore DEBIAN_FRONTEND=noninteractive

complete() { "$env/bin/python" -I -c 'import numpy, pandas, matplotlib, PIL' >/dev/null 2>&1; }

if complete; then
	echo "python: $("$env/bin/python" -V) with numpy, pandas, matplotlib, pillow"
	exit 0
fi
base=/usr/bin/python3
[ -x "$base" ] || base=$(command -v python3) || {
	echo "python: there is no python3" >&2
	exit 1
}

apt() { command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ] && apt-get -qq update && apt-get -qq install -y --no-install-recommends "$@"; }

{
	rm -rf "$env"
	"$base" -m venv "$env" || { apt python3-venv && "$base" -m venv "$env"; }
	"$env/bin/pip" install -q --prefer-binary numpy pandas matplotlib pillow
} >"$log" 2>&1
if ! complete; then
	{
		apt python3-venv python3-numpy python3-pandas python3-matplotlib python3-pil
		rm -rf "$env"
		"$base" -m venv --system-site-packages "$env"
	} >>"$log" 2>&1
fi
if ! complete; then
	echo "python: could not install numpy, pandas, matplotlib and pillow: $(tail -n 1 "$log" | cut -c1-200)" >&2
	exit 1
fi
echo "python: $("$env/bin/python" -V) with numpy, pandas, matplotlib, pillow"

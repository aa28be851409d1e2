#!/usr/bin/env bash
# Makes .testenv/python at the root of the repository: a Python with numpy,
# pandas, matplotlib and pillow, for the tests of providers/subprocess. From
# PyPI where pip reaches it, else from the distribution's packages. What cannot
# be had is told in one line. And .testenv/uv: uv, from PyPI.
#
# The interpreter behind it has to be one that other users can execute, since a
# root host runs programs as another user.
set -u
cd "$(dirname "$0")/../.."
. internal/testenv/apt
env=$PWD/.testenv/python
log=$PWD/.testenv/python.log
mkdir -p .testenv
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_RETRIES=1

complete() { "$env/bin/python" -I -c 'import numpy, pandas, matplotlib, PIL' >/dev/null 2>&1; }

from_pypi() {
	rm -rf "$env"
	"$base" -m venv "$env" || { apt_install python3-venv && "$base" -m venv "$env"; } || return
	"$env/bin/pip" install -q --prefer-binary numpy pandas matplotlib pillow
}

from_packages() {
	apt_install python3-venv python3-numpy python3-pandas python3-matplotlib python3-pil || return
	rm -rf "$env"
	"$base" -m venv --system-site-packages "$env"
}

if ! complete; then
	need python3 python3 python3-venv >"$log" 2>&1
	base=/usr/bin/python3
	[ -x "$base" ] || base=$(command -v python3) || {
		echo "python: could not install numpy, pandas, matplotlib and pillow: there is no python3"
		exit 0
	}
	from_pypi >>"$log" 2>&1
	complete || from_packages >>"$log" 2>&1
fi
if complete; then
	echo "python: $("$env/bin/python" -V) with numpy, pandas, matplotlib, pillow"
else
	echo "python: could not install numpy, pandas, matplotlib and pillow: $(last_line "$log")"
fi
if [ ! -x .testenv/uv/bin/uv ] && complete; then
	"$env/bin/python" -m pip install -q --target .testenv/uv uv >>"$log" 2>&1
fi
if [ -x .testenv/uv/bin/uv ]; then
	echo "python: $(.testenv/uv/bin/uv --version)"
else
	echo "python: could not install uv: $(last_line "$log")"
fi

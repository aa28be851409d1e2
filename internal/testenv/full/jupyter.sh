#!/usr/bin/env bash
# Makes the further kinds of Jupyter server and kernel.
. "$(dirname "$0")/../lib"

# Kernels that share languages with those that most tests want; their kernelspecs are
# written by a test.
kernels() {
	uv pip install -q --python "$root/jupyter/server6" xeus-python gateway_provisioners 'ipykernel>=6,<7' &&
		rm -rf "$root"/jupyter/server6/share/jupyter/kernels/{xpython,xpython-raw} &&
		"$root/jupyter/server6/bin/jupyter-ssh-spec" install --prefix="$root/jupyter/cluster" --kernel-name=cluster --remote-hosts=localhost
}

part jupyter/gateway 1 venv jupyter/gateway jupyter_kernel_gateway 'ipykernel>=6,<7' &
part jupyter/hub 1 venv jupyter/hub jupyterhub 'jupyter_server>=2,<3' 'ipykernel>=6,<7' &
part jupyter/proxy 1 npm_install jupyter/proxy configurable-http-proxy &
part jupyter/eg 1 venv jupyter/eg jupyter_enterprise_gateway 'ipykernel>=6,<7' &
part jupyter/cluster 1 kernels &
[ -e /usr/share/jupyter/kernels/ir/kernel.json ] || packages r-cran-irkernel >"$root/r.log" 2>&1 ||
	echo "testenv: could not install IRkernel: see $root/r.log"
wait

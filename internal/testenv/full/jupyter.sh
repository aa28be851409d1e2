#!/usr/bin/env bash
# Makes the further kinds of Jupyter server and kernel.
. "$(dirname "$0")/../lib"

# Kernels that share languages with those that most tests want; their kernelspecs are
# written by a test.
kernels() {
	uv pip install -q --python "$root/jupyter/server6" xeus-python calysto_bash gateway_provisioners 'ipykernel>=6,<7' &&
		rm -rf "$root"/jupyter/server6/share/jupyter/kernels/{xpython,xpython-raw,calysto_bash} &&
		"$root/jupyter/server6/bin/jupyter-ssh-spec" install --prefix="$root/jupyter/cluster" --kernel-name=cluster --remote-hosts=localhost
}

# Deno's binary comes with its package's install script.
deno() {
	need npm npm && timeout 60 npm view deno version &&
		npm install --silent --no-fund --no-audit --prefix "$root/jupyter/deno" deno || return
	local spec=$root/jupyter/server6/share/jupyter/kernels/deno
	mkdir -p "$spec" && cat >"$spec/kernel.json" <<-END
		{"argv": ["$root/jupyter/deno/node_modules/.bin/deno", "jupyter", "--kernel", "--conn", "{connection_file}"],
		 "display_name": "Deno", "language": "typescript"}
	END
}

part jupyter/gateway 1 venv jupyter/gateway jupyter_kernel_gateway 'ipykernel>=6,<7' &
part jupyter/hub 1 venv jupyter/hub jupyterhub 'jupyter_server>=2,<3' 'ipykernel>=6,<7' &
part jupyter/proxy 1 npm_install jupyter/proxy configurable-http-proxy &
part jupyter/eg 1 venv jupyter/eg jupyter_enterprise_gateway 'ipykernel>=6,<7' &
part jupyter/cluster 1 kernels &
part jupyter/deno 1 deno &
[ -e /usr/share/jupyter/kernels/ir/kernel.json ] || packages r-cran-irkernel >"$root/r.log" 2>&1 ||
	echo "testenv: could not install IRkernel: see $root/r.log"
wait

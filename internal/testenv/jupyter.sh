#!/usr/bin/env bash
# Installs the Jupyter servers and kernels that the tests of providers/jupyter
# run against, into .testenv/jupyter at the root of the repository. A part that
# is there is left alone; one that cannot be had is told in one line.
#
#   server6  Jupyter Server 2 + ipykernel 6 (matplotlib, bash_kernel, Deno; and
#            xeus-python and calysto_bash, whose kernelspecs a test writes;
#            gateway_provisioners, whose kernelspec is in cluster)
#   server7  Jupyter Server 2 + ipykernel 7
#   gateway  Kernel Gateway
#   hub      JupyterHub + configurable-http-proxy, dummy login, local spawner
#   eg       Enterprise Gateway
#   R        the distribution's IRkernel
#   debian   the distribution's own jupyter-server, in place of server6 where
#            pip reaches nothing
set -u
cd "$(dirname "$0")/../.."
. internal/testenv/apt
root=$PWD/.testenv/jupyter
mkdir -p "$root"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
need python3 python3 python3-venv >"$root/venv.log" 2>&1 || {
	echo "jupyter: could not install anything: there is no python3"
	exit 0
}

python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv >"$root/venv.log" 2>&1

# venv NAME PACKAGES... makes the environment NAME with the packages.
venv() {
	local name=$1 log=$root/$1.log
	shift
	[ -e "$root/$name/.done" ] && return 0
	rm -rf "${root:?}/$name"
	if python3 -m venv "$root/$name" >"$log" 2>&1 &&
		"$root/$name/bin/pip" install -q "$@" >>"$log" 2>&1; then
		touch "$root/$name/.done"
		echo "jupyter: installed $name"
		return 0
	fi
	rm -rf "${root:?}/$name"
	echo "jupyter: could not install $name: $(last_line "$log")"
	export PIP_RETRIES=0
	return 1
}

# npm_part NAME PACKAGE installs an npm package under NAME.
npm_part() {
	local log=$root/$1.log
	[ -e "$root/$1/.done" ] && return 0
	if npm_reaches "$2" >"$log" 2>&1 &&
		npm install --silent --no-fund --no-audit --prefix "$root/$1" "$2" >>"$log" 2>&1; then
		touch "$root/$1/.done"
		echo "jupyter: installed $1"
		return 0
	fi
	rm -rf "${root:?}/$1"
	echo "jupyter: could not install $1: $(last_line "$log")"
	return 1
}

# kernelspec DIR NAME JSON writes a kernelspec into an environment.
kernelspec() {
	mkdir -p "$1/share/jupyter/kernels/$2"
	printf '%s\n' "$3" >"$1/share/jupyter/kernels/$2/kernel.json"
}

deno_kernel() {
	npm_part deno deno || return 0
	local bin=$root/deno/node_modules/.bin/deno
	kernelspec "$root/server6" deno "{\"argv\": [\"$bin\", \"jupyter\", \"--kernel\", \"--conn\", \"{connection_file}\"],
 \"display_name\": \"Deno\", \"language\": \"typescript\"}"
}

bash_kernel() {
	[ -e "$root/server6/share/jupyter/kernels/bash" ] && return 0
	"$root/server6/bin/python" -m bash_kernel.install --sys-prefix >/dev/null 2>&1 ||
		echo "jupyter: could not install the bash kernel"
}

# further_kernels share languages with those that most tests want.
further_kernels() {
	local log=$root/kernels.log
	[ -e "$root/server6/.kernels" ] && return 0
	if "$root/server6/bin/pip" install -q xeus-python calysto_bash 'ipykernel>=6,<7' >"$log" 2>&1; then
		rm -rf "$root"/server6/share/jupyter/kernels/{xpython,xpython-raw,calysto_bash}
		touch "$root/server6/.kernels"
		echo "jupyter: installed xeus-python and calysto_bash"
	else
		echo "jupyter: could not install xeus-python and calysto_bash: $(last_line "$log")"
	fi
}

# cluster_kernel starts kernels as a cluster of hosts does, on this one.
cluster_kernel() {
	local log=$root/cluster.log
	[ -e "$root/server6/.cluster" ] && return 0
	if "$root/server6/bin/pip" install -q gateway_provisioners 'ipykernel>=6,<7' >"$log" 2>&1 &&
		"$root/server6/bin/jupyter-ssh-spec" install --prefix="$root/cluster" --kernel-name=cluster --remote-hosts=localhost >>"$log" 2>&1; then
		touch "$root/server6/.cluster"
		echo "jupyter: installed gateway_provisioners"
	else
		echo "jupyter: could not install gateway_provisioners: $(last_line "$log")"
	fi
}

r_kernel() {
	[ -e /usr/share/jupyter/kernels/ir/kernel.json ] && return 0
	if apt_install r-cran-irkernel >"$root/r.log" 2>&1; then
		echo "jupyter: installed R and IRkernel"
	else
		echo "jupyter: could not install IRkernel: $(last_line "$root/r.log")"
	fi
}

debian() {
	command -v jupyter-server >/dev/null && return 0
	if apt_install jupyter-server python3-ipykernel python3-matplotlib >"$root/debian.log" 2>&1; then
		echo "jupyter: installed the distribution's jupyter-server"
	else
		echo "jupyter: could not install the distribution's jupyter-server: $(last_line "$root/debian.log")"
	fi
}

if venv server6 'jupyter_server>=2,<3' 'ipykernel>=6,<7' matplotlib pandas bash_kernel; then
	bash_kernel
	further_kernels
	cluster_kernel
	deno_kernel
else
	debian
fi
venv server7 'jupyter_server>=2,<3' 'ipykernel>=7,<8'
venv gateway jupyter_kernel_gateway 'ipykernel>=6,<7'
venv hub jupyterhub 'jupyter_server>=2,<3' 'ipykernel>=6,<7' && npm_part proxy configurable-http-proxy
r_kernel
venv eg jupyter_enterprise_gateway 'ipykernel>=6,<7'
exit 0

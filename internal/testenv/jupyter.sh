#!/usr/bin/env bash
# Makes the two Jupyter servers of the tests with tag real: one with each generation
# of ipykernel, the older of them with a bash kernel.
. "$(dirname "$0")/lib"

server6() {
	venv jupyter/server6 'jupyter_server>=2,<3' 'ipykernel>=6,<7' matplotlib pandas bash_kernel &&
		"$root/jupyter/server6/bin/python" -m bash_kernel.install --sys-prefix
}

part jupyter/server6 1 server6 &
part jupyter/server7 1 venv jupyter/server7 'jupyter_server>=2,<3' 'ipykernel>=7,<8' &
wait

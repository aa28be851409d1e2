#compdef toolcell
_toolcell() {
	local -a commands
	commands=(
		'run:run a program, or a notebook, and show its output'
		'repl:type programs and see their output; variables stay'
		'mcp:serve the tools over MCP'
		'env:keep Python environments for programs'
		'keep:list, or end, the processes that run --keep has left'
		'doctor:say what this machine has'
		'sweep:delete Jupyter kernels that a killed command left'
		'completion:print what completes this command in a shell'
		'man:print the man page'
		'version:say which version this is'
		'help:say this, or the flags of a command'
	)
	if ((CURRENT == 2)); then
		_describe command commands
		return
	fi
	local command=$words[2]
	shift words
	((CURRENT--))
	case $command in
	run)
		_arguments \
			'*--adopt[jupyter: work in a kernel that is there, which this ID|PATH names, its own, or how that begins, or its notebook'\''s, with the variables that it has; it is left as it is]:value:()' \
			'*--allow-errors[notebooks: go on after a cell that fails]' \
			'*--allow-unsandboxed[subprocess: run without isolation where none is to be had]' \
			'*--artifacts[notebooks: save the files that the cells make or change where they start into this directory, up to 8 MiB in all, without Python'\''s __pycache__]:value:_files' \
			'*--ca[jupyter: trust the certificates in this PEM file only]:value:_files' \
			'*--dir[subprocess: the directory to start in and to import from, which programs may read, and change with --write too]:value:_files' \
			'*--disk[subprocess: what a program may write in its directory (size, such as 1G; -1 for any)]:value:()' \
			'*-e[the program itself (code); like one on standard input it shows the value of its last expression, which a FILE shows only where that is an image]:value:()' \
			'*--env[a NAME=VALUE for the program'\''s environment, or a NAME whose value is this command'\''s; several times for several]:value:()' \
			'*--env-name[subprocess: the environment (name) to use, made by toolcell env create]:value:{compadd -- $(toolcell env list 2>/dev/null | cut -d" " -f1)}' \
			'*--header[jupyter: a NAME:VALUE for every request; several times for several]:value:()' \
			'*--images[show images by auto, kitty, iterm2, sixel or none, or save them into a directory (default auto)]:value:_files' \
			'*--in[copy this file or directory into the directory that the program starts in; several times for several; with jupyter in Python alone]:value:_files' \
			'*--install[subprocess: a Python package that programs may have installed while they run, by importing it or %pip install; several times for several; '\''*'\'' for any]:value:()' \
			'*--isolation[subprocess: the mode to insist on, bwrap, landlock or none, which is no isolation (default the strongest that works)]:value:(bwrap landlock none)' \
			'*--json[print the result as JSON and nothing else]' \
			'*--keep[subprocess: leave a process behind for this duration, such as 10m, which has Python started and its packages imported for later runs with the same flags and environment (environment: TOOLCELL_KEEP); on Linux, for Python programs without --install; 0 for none]:value:()' \
			'*--kernel[jupyter: the kernelspec to use for the program'\''s language, or LANGUAGE=KERNELSPEC; several times for several languages]:value:()' \
			'*--language[language of the program (default: by the file'\''s name or its #! line; without either, python or else javascript where the provider has it)]:value:(bash javascript python typescript)' \
			'*--memory[subprocess: the memory that a program may use (size, such as 512M; -1 for any)]:value:()' \
			'*--network[subprocess: let programs use the network]' \
			'*--node[subprocess: the Node.js to use (path)]:value:_files' \
			'*--out[save the files that the program makes or changes where it starts into this directory, up to 8 MiB in all, without Python'\''s __pycache__ and what is in .cache; a notebook is written with its outputs into this file, which may be the same, or to standard output (-) in place of showing them]:value:_files' \
			'*--preload[subprocess: a Python module that ready processes have imported, such as pandas; several times for several; implies --warm]:value:()' \
			'*--processes[subprocess: the number of processes and threads that a program may have; -1 for any]:value:()' \
			'*--provider[what runs the code: inmemory, subprocess or jupyter (default jupyter where --url is given, subprocess where --env-name, --with or --install is, else inmemory)]:value:(inmemory subprocess jupyter)' \
			'*--python[subprocess: the Python to use (path), such as that of a virtual environment]:value:_files' \
			'*--read[subprocess: a path that programs may read, besides the system'\''s own; several times for several]:value:_files' \
			'*--stdin[let the program read this command'\''s standard input: with --provider subprocess as it comes, else all of it is read before the program begins]' \
			'*--tag[jupyter: what marks this command'\''s kernels for toolcell sweep (name, default toolcell-USER)]:value:()' \
			'*--timeout[end the program, or each cell of a notebook, after this duration, such as 30s]:value:()' \
			'*--token[token of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)]:value:()' \
			'*--url[address of the Jupyter server, as a browser shows it, or http+unix://PATH for a socket (environment: JUPYTER_URL, which goes with --provider jupyter)]:value:()' \
			'*--warm[subprocess: keep processes ready, so that programs start faster]' \
			'*--with[subprocess: a Python package to install, such as pandas, or npm:lodash of Node.js, where that was not done yet; several times for several]:value:()' \
			'*--write[subprocess: a path that programs may read and change; several times for several]:value:_files' \
			'*:file:_files'
		;;
	repl)
		_arguments \
			'*--adopt[jupyter: work in a kernel that is there, which this ID|PATH names, its own, or how that begins, or its notebook'\''s, with the variables that it has; it is left as it is]:value:()' \
			'*--allow-unsandboxed[subprocess: run without isolation where none is to be had]' \
			'*--ca[jupyter: trust the certificates in this PEM file only]:value:_files' \
			'*--dir[subprocess: the directory to start in and to import from, which programs may read, and change with --write too]:value:_files' \
			'*--disk[subprocess: what a program may write in its directory (size, such as 1G; -1 for any)]:value:()' \
			'*--env[a NAME=VALUE for the program'\''s environment, or a NAME whose value is this command'\''s; several times for several]:value:()' \
			'*--env-name[subprocess: the environment (name) to use, made by toolcell env create]:value:{compadd -- $(toolcell env list 2>/dev/null | cut -d" " -f1)}' \
			'*--header[jupyter: a NAME:VALUE for every request; several times for several]:value:()' \
			'*--history[the file that keeps what was typed, none for no file (default toolcell/history-LANGUAGE in the user'\''s configuration directory)]:value:_files' \
			'*--images[show images by auto, kitty, iterm2, sixel or none, or save them into a directory (default auto)]:value:_files' \
			'*--install[subprocess: a Python package that programs may have installed while they run, by importing it or %pip install; several times for several; '\''*'\'' for any]:value:()' \
			'*--isolation[subprocess: the mode to insist on, bwrap, landlock or none, which is no isolation (default the strongest that works)]:value:(bwrap landlock none)' \
			'*--kernel[jupyter: the kernelspec to use for the program'\''s language, or LANGUAGE=KERNELSPEC; several times for several languages]:value:()' \
			'*--language[language to speak (default python or else javascript, where the provider has it)]:value:(bash javascript python typescript)' \
			'*--memory[subprocess: the memory that a program may use (size, such as 512M; -1 for any)]:value:()' \
			'*--network[subprocess: let programs use the network]' \
			'*--node[subprocess: the Node.js to use (path)]:value:_files' \
			'*--preload[subprocess: a Python module that ready processes have imported, such as pandas; several times for several; implies --warm]:value:()' \
			'*--processes[subprocess: the number of processes and threads that a program may have; -1 for any]:value:()' \
			'*--provider[what runs the code: inmemory, subprocess or jupyter (default jupyter where --url is given, subprocess where --env-name, --with or --install is, else inmemory)]:value:(inmemory subprocess jupyter)' \
			'*--python[subprocess: the Python to use (path), such as that of a virtual environment]:value:_files' \
			'*--read[subprocess: a path that programs may read, besides the system'\''s own; several times for several]:value:_files' \
			'*--tag[jupyter: what marks this command'\''s kernels for toolcell sweep (name, default toolcell-USER)]:value:()' \
			'*--timeout[end the program, or each cell of a notebook, after this duration, such as 30s]:value:()' \
			'*--token[token of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)]:value:()' \
			'*--url[address of the Jupyter server, as a browser shows it, or http+unix://PATH for a socket (environment: JUPYTER_URL, which goes with --provider jupyter)]:value:()' \
			'*--warm[subprocess: keep processes ready, so that programs start faster]' \
			'*--with[subprocess: a Python package to install, such as pandas, or npm:lodash of Node.js, where that was not done yet; several times for several]:value:()' \
			'*--write[subprocess: a path that programs may read and change; several times for several]:value:_files'
		;;
	mcp)
		_arguments \
			'*--adopt[jupyter: work in a kernel that is there, which this ID|PATH names, its own, or how that begins, or its notebook'\''s, with the variables that it has; it is left as it is]:value:()' \
			'*--allow-unsandboxed[subprocess: run without isolation where none is to be had]' \
			'*--artifacts[have answers name the files that a program created or changed; with jupyter in Python alone]' \
			'*--background[also offer to run commands in the background]' \
			'*--ca[jupyter: trust the certificates in this PEM file only]:value:_files' \
			'*--context-idle[delete a context that was not used for this duration, 0 for never (default 30m0s)]:value:()' \
			'*--context-lifetime[delete a context that is older than this duration, 0 for never (default 8h0m0s)]:value:()' \
			'*--dir[the directory that all programs start in, share and may change: one of this machine, with --provider subprocess, which it implies; with --url one of the kernels'\'' host, by default where the server starts them]:value:_files' \
			'*--disk[subprocess: what a program may write in its directory (size, such as 1G; -1 for any)]:value:()' \
			'*--env-name[subprocess: the environment (name) to use, made by toolcell env create]:value:{compadd -- $(toolcell env list 2>/dev/null | cut -d" " -f1)}' \
			'*--files[also offer to read, write and search the files of --dir, of a Jupyter server in Python'\''s kernels, or those that the embedded engines share, which end with the server]' \
			'*--header[jupyter: a NAME:VALUE for every request; several times for several]:value:()' \
			'*--http[serve HTTP at /mcp of this address, such as :8080, instead of standard input and output; without a host it is this machine only]:value:()' \
			'*--http-host[a further host name under which the server is reached, as through a proxy]:value:()' \
			'*--http-origin[a web origin whose pages may use the server, such as https://app.example]:value:()' \
			'*--http-token[let only holders of this bearer token in (environment: TOOLCELL_MCP_TOKEN, which other users do not see); each of several is a client of its own]:value:()' \
			'*--install[subprocess: a Python package that programs may have installed while they run, by importing it or %pip install; several times for several; '\''*'\'' for any]:value:()' \
			'*--isolation[subprocess: the mode to insist on, bwrap, landlock or none, which is no isolation (default the strongest that works)]:value:(bwrap landlock none)' \
			'*--kernel[jupyter: the kernelspec to use for the program'\''s language, or LANGUAGE=KERNELSPEC; several times for several languages]:value:()' \
			'*--languages[offer these languages only, such as python,bash; others are refused]:value:(bash javascript python typescript)' \
			'*--manage[also offer to list, restart and interrupt code contexts; over HTTP without a token, clients without a session get no list]' \
			'*--max-contexts[the number of contexts that one client may have, 0 for any (default 8)]:value:()' \
			'*--max-timeout[the longest duration that a run may ask for (default 10m0s)]:value:()' \
			'*--memory[subprocess: the memory that a program may use (size, such as 512M; -1 for any)]:value:()' \
			'*--network[subprocess: let programs use the network]' \
			'*--node[subprocess: the Node.js to use (path)]:value:_files' \
			'*--preload[subprocess: a Python module that ready processes have imported, such as pandas; several times for several; implies --warm]:value:()' \
			'*--processes[subprocess: the number of processes and threads that a program may have; -1 for any]:value:()' \
			'*--provider[what runs the code: inmemory, subprocess or jupyter (default jupyter where --url is given, subprocess where --env-name, --with or --install is, else inmemory)]:value:(inmemory subprocess jupyter)' \
			'*--python[subprocess: the Python to use (path), such as that of a virtual environment]:value:_files' \
			'*--read[subprocess: a path that programs may read, besides the system'\''s own; several times for several]:value:_files' \
			'*--read-output[also offer to read long output page by page]' \
			'*--shell[also offer to run commands in --dir, or on a Jupyter server that has Python]' \
			'*--stateless[offer no code contexts: every run starts from nothing]' \
			'*--tag[jupyter: what marks this command'\''s kernels for toolcell sweep (name, default toolcell-USER)]:value:()' \
			'*--timeout[end a run that asks for no other time after this duration (default 45s)]:value:()' \
			'*--token[token of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)]:value:()' \
			'*--tools[connect to the MCP servers of this file ({"mcpServers": {...}}) and serve one tool in place of theirs, which runs programs that call them]:value:_files' \
			'*--url[address of the Jupyter server, as a browser shows it, or http+unix://PATH for a socket (environment: JUPYTER_URL, which goes with --provider jupyter)]:value:()' \
			'*--verbose[log sessions and faults on standard error]' \
			'*--warm[subprocess: keep processes ready, so that programs start faster]' \
			'*--with[subprocess: a Python package to install, such as pandas, or npm:lodash of Node.js, where that was not done yet; several times for several]:value:()' \
			'*--workspace[give the tools long names, with this name: workspace__NAME__run_code]:value:()' \
			'*--write[subprocess: a path that programs may read and change; several times for several]:value:_files'
		;;
	env)
		_arguments \
			'*--lock[create: a file with what toolcell env lock prints: exactly those versions, without the network where they were installed before]:value:_files' \
			'*--python[create: the Python to build upon (path)]:value:_files' \
			'*--requirements[create: a file that lists packages, one a line]:value:_files' \
			'*--size[create: what the installation may write and hold in memory (size, such as 2G; default 16G). sweep: what may stay (default nothing): environments without a name are removed that were used the longest ago, as those of --with and --install, and what is kept to make them again]:value:()' \
			'1:what:(create lock list remove sweep)' \
			'2:name:{compadd -- $(toolcell env list 2>/dev/null | cut -d" " -f1)}'
		;;
	keep)
		_arguments \
			'1:what:(list stop)'
		;;
	doctor)
		_arguments \
			'*--allow-unsandboxed[subprocess: run without isolation where none is to be had]' \
			'*--ca[jupyter: trust the certificates in this PEM file only]:value:_files' \
			'*--disk[subprocess: what a program may write in its directory (size, such as 1G; -1 for any)]:value:()' \
			'*--env-name[subprocess: the environment (name) to use, made by toolcell env create]:value:{compadd -- $(toolcell env list 2>/dev/null | cut -d" " -f1)}' \
			'*--header[jupyter: a NAME:VALUE for every request; several times for several]:value:()' \
			'*--install[subprocess: a Python package that programs may have installed while they run, by importing it or %pip install; several times for several; '\''*'\'' for any]:value:()' \
			'*--isolation[subprocess: the mode to insist on, bwrap, landlock or none, which is no isolation (default the strongest that works)]:value:(bwrap landlock none)' \
			'*--kernel[jupyter: the kernelspec to use for the program'\''s language, or LANGUAGE=KERNELSPEC; several times for several languages]:value:()' \
			'*--memory[subprocess: the memory that a program may use (size, such as 512M; -1 for any)]:value:()' \
			'*--network[subprocess: let programs use the network]' \
			'*--node[subprocess: the Node.js to use (path)]:value:_files' \
			'*--preload[subprocess: a Python module that ready processes have imported, such as pandas; several times for several; implies --warm]:value:()' \
			'*--processes[subprocess: the number of processes and threads that a program may have; -1 for any]:value:()' \
			'*--provider[what runs the code: inmemory, subprocess or jupyter (default jupyter where --url is given, subprocess where --env-name, --with or --install is, else inmemory)]:value:(inmemory subprocess jupyter)' \
			'*--python[subprocess: the Python to use (path), such as that of a virtual environment]:value:_files' \
			'*--read[subprocess: a path that programs may read, besides the system'\''s own; several times for several]:value:_files' \
			'*--tag[jupyter: what marks this command'\''s kernels for toolcell sweep (name, default toolcell-USER)]:value:()' \
			'*--token[token of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)]:value:()' \
			'*--url[address of the Jupyter server, as a browser shows it, or http+unix://PATH for a socket (environment: JUPYTER_URL, which goes with --provider jupyter)]:value:()' \
			'*--warm[subprocess: keep processes ready, so that programs start faster]' \
			'*--with[subprocess: a Python package to install, such as pandas, or npm:lodash of Node.js, where that was not done yet; several times for several]:value:()' \
			'*--write[subprocess: a path that programs may read and change; several times for several]:value:_files'
		;;
	sweep)
		_arguments \
			'*--ca[jupyter: trust the certificates in this PEM file only]:value:_files' \
			'*--header[jupyter: a NAME:VALUE for every request; several times for several]:value:()' \
			'*--idle[leave kernels alone that were active within this duration (default 10m0s)]:value:()' \
			'*--kernel[jupyter: the kernelspec to use for the program'\''s language, or LANGUAGE=KERNELSPEC; several times for several languages]:value:()' \
			'*--tag[jupyter: what marks this command'\''s kernels for toolcell sweep (name, default toolcell-USER)]:value:()' \
			'*--token[token of the Jupyter server (environment: JUPYTER_TOKEN, or JUPYTER_PASSWORD)]:value:()' \
			'*--url[address of the Jupyter server, as a browser shows it, or http+unix://PATH for a socket (environment: JUPYTER_URL, which goes with --provider jupyter)]:value:()'
		;;
	completion)
		_arguments \
			'1:what:(bash zsh fish)'
		;;
	man)
		_arguments
		;;
	version)
		_arguments
		;;
	help)
		_arguments
		;;
	esac
}
compdef _toolcell toolcell

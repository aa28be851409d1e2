# source <(toolcell completion bash)
_toolcell() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="run repl mcp env keep doctor sweep completion man version help"
	else
		case ${COMP_WORDS[1]}:$prev in
		env:lock | env:remove) words=$(toolcell env list 2>/dev/null | cut -d" " -f1) ;;
		run:--adopt) words="" ;;
		run:--artifacts) words="" files=1 ;;
		run:--ca) words="" files=1 ;;
		run:--dir) words="" files=1 ;;
		run:--disk) words="" ;;
		run:-e) words="" ;;
		run:--env) words="" ;;
		run:--env-name) words=$(toolcell env list 2>/dev/null | cut -d" " -f1) ;;
		run:--header) words="" ;;
		run:--images) words="auto kitty iterm2 sixel none" files=1 ;;
		run:--in) words="" files=1 ;;
		run:--install) words="" ;;
		run:--isolation) words="bwrap landlock none" ;;
		run:--keep) words="" ;;
		run:--kernel) words="" ;;
		run:--language) words="bash javascript python typescript" ;;
		run:--memory) words="" ;;
		run:--node) words="" files=1 ;;
		run:--out) words="" files=1 ;;
		run:--preload) words="" ;;
		run:--processes) words="" ;;
		run:--provider) words="inmemory subprocess jupyter" ;;
		run:--python) words="" files=1 ;;
		run:--read) words="" files=1 ;;
		run:--tag) words="" ;;
		run:--timeout) words="" ;;
		run:--token) words="" ;;
		run:--url) words="" ;;
		run:--with) words="" ;;
		run:--write) words="" files=1 ;;
		run:*)
			if [[ $cur == -* ]]; then words="--adopt --allow-errors --allow-unsandboxed --artifacts --ca --dir --disk -e --env --env-name --header --images --in --install --isolation --json --keep --kernel --language --memory --network --node --out --preload --processes --provider --python --read --stdin --tag --timeout --token --url --warm --with --write --help"; else words="" files=1; fi ;;
		repl:--adopt) words="" ;;
		repl:--ca) words="" files=1 ;;
		repl:--dir) words="" files=1 ;;
		repl:--disk) words="" ;;
		repl:--env) words="" ;;
		repl:--env-name) words=$(toolcell env list 2>/dev/null | cut -d" " -f1) ;;
		repl:--header) words="" ;;
		repl:--history) words="" files=1 ;;
		repl:--images) words="auto kitty iterm2 sixel none" files=1 ;;
		repl:--install) words="" ;;
		repl:--isolation) words="bwrap landlock none" ;;
		repl:--kernel) words="" ;;
		repl:--language) words="bash javascript python typescript" ;;
		repl:--memory) words="" ;;
		repl:--node) words="" files=1 ;;
		repl:--preload) words="" ;;
		repl:--processes) words="" ;;
		repl:--provider) words="inmemory subprocess jupyter" ;;
		repl:--python) words="" files=1 ;;
		repl:--read) words="" files=1 ;;
		repl:--tag) words="" ;;
		repl:--timeout) words="" ;;
		repl:--token) words="" ;;
		repl:--url) words="" ;;
		repl:--with) words="" ;;
		repl:--write) words="" files=1 ;;
		repl:*)
			if [[ $cur == -* ]]; then words="--adopt --allow-unsandboxed --ca --dir --disk --env --env-name --header --history --images --install --isolation --kernel --language --memory --network --node --preload --processes --provider --python --read --tag --timeout --token --url --warm --with --write --help"; else words=""; fi ;;
		mcp:--adopt) words="" ;;
		mcp:--ca) words="" files=1 ;;
		mcp:--context-idle) words="" ;;
		mcp:--context-lifetime) words="" ;;
		mcp:--dir) words="" files=1 ;;
		mcp:--disk) words="" ;;
		mcp:--env-name) words=$(toolcell env list 2>/dev/null | cut -d" " -f1) ;;
		mcp:--header) words="" ;;
		mcp:--http) words="" ;;
		mcp:--http-host) words="" ;;
		mcp:--http-origin) words="" ;;
		mcp:--http-token) words="" ;;
		mcp:--install) words="" ;;
		mcp:--isolation) words="bwrap landlock none" ;;
		mcp:--kernel) words="" ;;
		mcp:--languages) words="bash javascript python typescript" ;;
		mcp:--max-contexts) words="" ;;
		mcp:--max-timeout) words="" ;;
		mcp:--memory) words="" ;;
		mcp:--node) words="" files=1 ;;
		mcp:--preload) words="" ;;
		mcp:--processes) words="" ;;
		mcp:--provider) words="inmemory subprocess jupyter" ;;
		mcp:--python) words="" files=1 ;;
		mcp:--read) words="" files=1 ;;
		mcp:--tag) words="" ;;
		mcp:--timeout) words="" ;;
		mcp:--token) words="" ;;
		mcp:--tools) words="" files=1 ;;
		mcp:--url) words="" ;;
		mcp:--with) words="" ;;
		mcp:--workspace) words="" ;;
		mcp:--write) words="" files=1 ;;
		mcp:*)
			if [[ $cur == -* ]]; then words="--adopt --allow-unsandboxed --artifacts --background --ca --context-idle --context-lifetime --dir --disk --env-name --files --header --http --http-host --http-origin --http-token --install --isolation --kernel --languages --manage --max-contexts --max-timeout --memory --network --node --preload --processes --provider --python --read --read-output --shell --stateless --tag --timeout --token --tools --url --verbose --warm --with --workspace --write --help"; else words=""; fi ;;
		env:--lock) words="" files=1 ;;
		env:--python) words="" files=1 ;;
		env:--requirements) words="" files=1 ;;
		env:--size) words="" ;;
		env:*)
			if [[ $cur == -* ]]; then words="--lock --python --requirements --size --help"; else words="create lock list remove sweep"; fi ;;
		keep:*)
			if [[ $cur == -* ]]; then words="--help"; else words="list stop"; fi ;;
		doctor:--ca) words="" files=1 ;;
		doctor:--disk) words="" ;;
		doctor:--env-name) words=$(toolcell env list 2>/dev/null | cut -d" " -f1) ;;
		doctor:--header) words="" ;;
		doctor:--install) words="" ;;
		doctor:--isolation) words="bwrap landlock none" ;;
		doctor:--kernel) words="" ;;
		doctor:--memory) words="" ;;
		doctor:--node) words="" files=1 ;;
		doctor:--preload) words="" ;;
		doctor:--processes) words="" ;;
		doctor:--provider) words="inmemory subprocess jupyter" ;;
		doctor:--python) words="" files=1 ;;
		doctor:--read) words="" files=1 ;;
		doctor:--tag) words="" ;;
		doctor:--token) words="" ;;
		doctor:--url) words="" ;;
		doctor:--with) words="" ;;
		doctor:--write) words="" files=1 ;;
		doctor:*)
			if [[ $cur == -* ]]; then words="--allow-unsandboxed --ca --disk --env-name --header --install --isolation --kernel --memory --network --node --preload --processes --provider --python --read --tag --token --url --warm --with --write --help"; else words=""; fi ;;
		sweep:--ca) words="" files=1 ;;
		sweep:--header) words="" ;;
		sweep:--idle) words="" ;;
		sweep:--kernel) words="" ;;
		sweep:--tag) words="" ;;
		sweep:--token) words="" ;;
		sweep:--url) words="" ;;
		sweep:*)
			if [[ $cur == -* ]]; then words="--ca --header --idle --kernel --tag --token --url --help"; else words=""; fi ;;
		completion:*)
			if [[ $cur == -* ]]; then words="--help"; else words="bash zsh fish"; fi ;;
		man:*)
			if [[ $cur == -* ]]; then words="--help"; else words=""; fi ;;
		version:*)
			if [[ $cur == -* ]]; then words="--help"; else words=""; fi ;;
		help:*)
			if [[ $cur == -* ]]; then words="--help"; else words=""; fi ;;
		esac
	fi
	local IFS=$'\n'
	COMPREPLY=($(compgen -W "${words// /$'\n'}" -- "$cur"))
	if [[ $files ]]; then
		compopt -o filenames 2>/dev/null
		COMPREPLY+=($(compgen -f -- "$cur"))
	fi
}
complete -F _toolcell toolcell

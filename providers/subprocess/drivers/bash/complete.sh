# What could stand at the end of __toolcell_fields[2]: variables after $, commands
# where one begins, else files.
__toolcell_complete() { # number, code
	local __toolcell__code=$2 __toolcell__word __toolcell__list='' __toolcell__match __toolcell__dir __toolcell__kind=file
	__toolcell__word=${__toolcell__code##*[[:space:];|&()<>\"\'\`=]}
	local __toolcell__before=${__toolcell__code%"$__toolcell__word"}
	__toolcell__before=${__toolcell__before%"${__toolcell__before##*[![:space:]]}"}
	case ${__toolcell__before: -1} in
	'' | ';' | '|' | '&' | '(' | '`') __toolcell__kind=command ;;
	esac
	if [[ $__toolcell__word == *'$'* ]]; then
		__toolcell__kind=variable __toolcell__word=${__toolcell__word##*'$'} __toolcell__word=${__toolcell__word#'{'}
	elif [[ $__toolcell__word == */* ]]; then
		__toolcell__kind=file
	fi
	if [[ $__toolcell__kind == command && $__toolcell__word || $__toolcell__kind != command ]]; then
		while IFS= builtin read -r __toolcell__match; do
			[[ $__toolcell__match && $__toolcell__match == "$__toolcell__word"* && $__toolcell__match != __toolcell* ]] || continue
			if [[ $__toolcell__kind == file ]]; then
				__toolcell__dir=
				[[ -d $__toolcell__match ]] && __toolcell__dir=/
				builtin printf -v __toolcell__match %q "$__toolcell__match"
				__toolcell__match+=$__toolcell__dir
			fi
			__toolcell__list+=$__toolcell__match$'\n'
		done <<<"$(builtin compgen -A "$__toolcell__kind" -- "$__toolcell__word" | command -p head -n 1000)" # <(...) would set $!
	fi
	local LC_ALL=C
	__toolcell_send B "$1" "$((${#__toolcell__code} - ${#__toolcell__word}))" "${#__toolcell__code}" "${__toolcell__list%$'\n'}"
} 2>/dev/null
__toolcell_complete "${__toolcell_fields[0]}" "${__toolcell_fields[2]}"
unset -f __toolcell_complete

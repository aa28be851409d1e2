# What could stand at the end of __toolcell_fields[2]: variables after $, commands
# where one begins, else files.
__toolcell_complete() { # number, code
	local code=$2 word list='' match dir kind=file
	word=${code##*[[:space:];|&()<>\"\'\`=]}
	local before=${code%"$word"}
	before=${before%"${before##*[![:space:]]}"}
	case ${before: -1} in
	'' | ';' | '|' | '&' | '(' | '`') kind=command ;;
	esac
	if [[ $word == *'$'* ]]; then
		kind=variable word=${word##*'$'} word=${word#'{'}
	elif [[ $word == */* ]]; then
		kind=file
	fi
	if [[ $kind == command && $word || $kind != command ]]; then
		while IFS= builtin read -r match; do
			[[ $match && $match == "$word"* && $match != __toolcell* ]] || continue
			if [[ $kind == file ]]; then
				dir=
				[[ -d $match ]] && dir=/
				builtin printf -v match %q "$match"
				match+=$dir
			fi
			list+=$match$'\n'
		done <<<"$(builtin compgen -A "$kind" -- "$word" | command -p head -n 1000)" # <(...) would set $!
	fi
	local LC_ALL=C
	__toolcell_send B "$1" "$((${#code} - ${#word}))" "${#code}" "${list%$'\n'}"
} 2>/dev/null
__toolcell_complete "${__toolcell_fields[0]}" "${__toolcell_fields[2]}"
unset -f __toolcell_complete

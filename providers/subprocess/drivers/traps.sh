
# A program's traps. What the shell itself has for EXIT is the driver's, so that the
# state goes on also where a program has a trap of its own; that one is kept in
# __toolcell_trap, as trap -p says it, and runs before. trap is a function that says
# and changes the program's. Who goes past it, by builtin trap, is noticed by exit,
# by an interrupt and by the next run.

__toolcell_hook='{ __toolcell_status=$? __toolcell_opts=$-$__toolcell_flags; set +eufkvxET; __toolcell_exit "$__toolcell_bash" && : "$__toolcell_bash"; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; builtin eval "$__toolcell_last${__toolcell_none[__toolcell_mute=0]-}"; { __toolcell_opts=$-; set +eufkvxET; __toolcell_quiet "$__toolcell_opts"; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; __toolcell_gone'
__toolcell_hooked="trap -- '$__toolcell_hook' EXIT"
__toolcell_inter='{ :; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; __toolcell_int'
__toolcell_inters="trap -- '$__toolcell_inter' SIGINT"

__toolcell_absorb() { # puts the driver's trap back, and keeps what the program had set in its place
	local __toolcell__line
	__toolcell__line=$(builtin trap -p EXIT)
	if [[ $__toolcell__line == *__toolcell_exit* ]]; then builtin return; fi
	if [[ $__toolcell_set ]]; then __toolcell_trap=$__toolcell__line; fi
	__toolcell_set=1
	builtin trap "$__toolcell_hook" EXIT
}

__toolcell_wrap() { # defines trap, and in a context exit, which posix mode forbids
	local __toolcell__posix=''
	if [[ -o posix ]]; then
		__toolcell__posix=$(declare -p POSIXLY_CORRECT)
		set +o posix
	fi
	trap() {
		{ local - __toolcell__todo __toolcell__line __toolcell__flags=$- __toolcell__status=0; set +eufkvxET; } 2>/dev/null
		__toolcell_trapping "$@" || :
		if [[ $__toolcell__flags == *T* ]]; then # the end of this is none to the program's trap
			__toolcell_unseen "${__toolcell_kept[RETURN]+${__toolcell_kept[RETURN]#* }}"
			__toolcell__todo=$__toolcell__line$__toolcell__todo
		fi
		builtin eval "$__toolcell__todo"
		builtin return "$__toolcell__status"
	}
	if [[ ! $__toolcell_once ]]; then
		exit() { # notes that the shell ends by it; a trap of EXIT is not to take its argument for the program's
			{ __toolcell_leaving=${1-$?} __toolcell_flags=$-; set +ET; __toolcell_leave "$@" && set --; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}
			$__toolcell_instead builtin exit "${@:-$__toolcell_leaving}"
		}
	fi
	if [[ $__toolcell__posix ]]; then builtin eval "${__toolcell__posix/declare/declare -g}"; fi
}

# A trap of EXIT is to find the program's last command in BASH_COMMAND, which eval puts
# back to its own, and in posix mode trap and exit are the builtins. Where a program may
# ask for either, a trap of DEBUG notes the commands, and takes what such a trap has set.
__toolcell_watch='{ case $__toolcell_mute:$__toolcell_command in 1:*) ;; *trap*) [[ ! -o posix ]] || __toolcell_absorb ;;& *) __toolcell_under=$_ __toolcell_command=$BASH_COMMAND; : "$__toolcell_under" ;; esac; } 2>/dev/null'
__toolcell_watched="trap -- '$__toolcell_watch' DEBUG"

__toolcell_watches() { # begins to note the commands of the program, where it may matter
	__toolcell_command=''
	[[ ! ${__toolcell_kept[DEBUG]-} ]] || builtin return 0
	local __toolcell__all=$__toolcell_code$__toolcell_trap __toolcell__name
	if [[ $__toolcell_trap ]]; then # it may call functions
		__toolcell__all+=$(for __toolcell__name in $(compgen -A function); do [[ $__toolcell__name =~ ^(__toolcell.*|trap|exit|tool)$ ]] || declare -f "$__toolcell__name"; done)
	fi
	if [[ $__toolcell__all == *BASH_COMMAND* || $__toolcell_code == *trap* && ($__toolcell_code == *[pP][oO][sS][iI][xX]* || -o posix) ]]; then
		builtin trap "$__toolcell_watch" DEBUG
	fi
}

# A trap of DEBUG is to see none of the driver's commands: nor those of the functions
# that take the place of builtins, and the call of such a function only once under set
# -T, which would have another for its begin.
__toolcell_guarded() { # a line of trap -p; sets __toolcell__line to what has bash do that where it is of DEBUG
	__toolcell__line=$1
	[[ $1 == *DEBUG && $1 != "trap -- '' DEBUG" && $1 != 'trap -- - DEBUG' && $1 != *'$__toolcell_mute'* ]] || builtin return 0
	__toolcell__line=${1% DEBUG}
	__toolcell__line="trap -- 'case \$__toolcell_mute:\${FUNCNAME-}\${__toolcell_ending:+:}:\$BASH_COMMAND in 1:* | *:__toolcell* | 0:trap:* | 0:tool:* | 0:exit:[!:]*) ;; *) ${__toolcell__line#"trap -- '"}"
	__toolcell__line="${__toolcell__line%"'"}"$'\nesac\' DEBUG'
}

# This sets __toolcell__todo to what trap is to do with its arguments. The function
# trap does that itself: a trap of DEBUG, ERR or RETURN is gone while a function runs
# and comes back behind it, unless that has set another. So what resets one ignores it
# instead, and RETURN, which the end of trap would call, is set by that call.
__toolcell_trapping() {
	local __toolcell__action=- __toolcell__word __toolcell__rest='' __toolcell__first='' __toolcell__last=''
	case ${1--p} in
	-p) __toolcell__todo='__toolcell_listed "$@"' && builtin return ;;
	--) shift ;;
	-) ;;
	-*) __toolcell__todo='builtin trap "$@" || __toolcell__status=$?' && builtin return ;;
	esac
	if (($# == 0)); then __toolcell__todo=__toolcell_listed && builtin return; fi
	# A first argument that is a number, and one that is alone, is no action.
	if (($# > 1)) && [[ ! $1 || $1 == *[!0-9]* || ${#1} -gt 2 || 10#$1 -gt 64 ]]; then
		__toolcell__action=$1
		shift
	elif (($# == 1)) && __toolcell_named "$1" && [[ ! $__toolcell__word ]]; then
		__toolcell__todo='__toolcell_builtin "$@" || __toolcell__status=$?' && builtin return
	fi
	if [[ $BASHPID != "$__toolcell_pid" && ! $__toolcell_apart ]]; then # it has none of the shell's, once it has one
		__toolcell_apart=1 __toolcell_kept=()
	fi
	local __toolcell__arg __toolcell__q
	builtin printf -v __toolcell__q %q "$__toolcell__action"
	for __toolcell__arg; do
		__toolcell_named "$__toolcell__arg"
		case $__toolcell__word in
		DEBUG | ERR | RETURN) __toolcell_pseudo "$__toolcell__word" ;;
		EXIT)
			if [[ $__toolcell_apart ]]; then
				__toolcell__rest+=' EXIT'
			else
				__toolcell_line EXIT
				__toolcell_trap=$__toolcell__line
			fi
			;;
		INT)
			if [[ $__toolcell__action == - && ! $__toolcell_once && ! $__toolcell_apart ]]; then
				__toolcell__first+='builtin trap "$__toolcell_inter" INT; '
			else
				__toolcell__rest+=' INT'
			fi
			;;
		*)
			builtin printf -v __toolcell__arg %q "$__toolcell__arg"
			__toolcell__rest+=" $__toolcell__arg"
			;;
		esac
	done
	if [[ $__toolcell__rest ]]; then __toolcell__rest="__toolcell_builtin -- $__toolcell__q$__toolcell__rest || __toolcell__status=\$?"; fi
	__toolcell__todo="$__toolcell__first$__toolcell__rest$__toolcell__last"
}

__toolcell_unseen() { # a line of trap for RETURN, or ''; sets __toolcell__line to what has it come with the end of a function
	__toolcell__line=''
	[[ $1 ]] || builtin return 0
	builtin printf -v __toolcell__line %q "builtin $1"
	__toolcell__line="builtin trap -- $__toolcell__line RETURN; "
}

__toolcell_named() { # sets __toolcell__word to which of EXIT, INT, DEBUG, ERR and RETURN that is, if any
	__toolcell__word=${1^^}
	case $__toolcell__word in
	0) __toolcell__word=EXIT ;;
	INT | SIGINT | 2) __toolcell__word=INT ;;
	EXIT | DEBUG | ERR | RETURN) ;;
	*) __toolcell__word='' ;;
	esac
}

__toolcell_line() { # sets __toolcell__line to what trap -p is to say of it
	local __toolcell__quote="'\\''"
	__toolcell__line=''
	if [[ $__toolcell__action != - ]]; then __toolcell__line="trap -- '${__toolcell__action//\'/"$__toolcell__quote"}' $1"; fi
}

__toolcell_pseudo() { # adds to what trap does with one of DEBUG, ERR and RETURN
	local __toolcell__line
	__toolcell_line "$1"
	if [[ $__toolcell__line ]]; then
		__toolcell_kept[$1]="$((${#FUNCNAME[@]} - 3)) $__toolcell__line"
	elif __toolcell_seen "$1" 3; then
		__toolcell__line="trap -- '' $1"
		__toolcell_kept[$1]=''
	else
		__toolcell__line="trap -- - $1"
	fi
	case $1 in
	DEBUG) # comes last, or it would see what follows
		__toolcell_guarded "$__toolcell__line"
		__toolcell__last+=$'\n'"builtin $__toolcell__line"
		;;
	ERR) __toolcell__first+="builtin $__toolcell__line; " ;;
	RETURN)
		__toolcell_unseen "$__toolcell__line"
		__toolcell__first+=$__toolcell__line
		;;
	esac
}

# This tells whether whoever has called trap, that many functions further out, has one
# of DEBUG, ERR and RETURN, by what the wrapper has kept of it.
__toolcell_seen() {
	local __toolcell__flag=T
	if [[ $1 == ERR ]]; then __toolcell__flag=E; fi
	[[ ${__toolcell_kept[$1]-} ]] && ((${__toolcell_kept[$1]%% *} >= ${#FUNCNAME[@]} - 1 - $2)) || [[ ${__toolcell_kept[$1]-} && ${__toolcell__flags-$__toolcell_opts} == *$__toolcell__flag* ]]
}

__toolcell_builtin() { # trap; a message is to name the program's line
	builtin trap "$@" 2>/dev/null && builtin return
	local __toolcell__status=$? __toolcell__said
	__toolcell__said=$(builtin trap "$@" 2>&1 >/dev/null; builtin trap - EXIT)
	if [[ $__toolcell__said =~ ': line '[0-9]+': '(.*) ]]; then
		local __toolcell__at=1
		if [[ ${FUNCNAME[1]} != trap ]]; then __toolcell__at=2; fi
		__toolcell__said="${BASH_SOURCE[__toolcell__at + 1]:-bash}: line ${BASH_LINENO[__toolcell__at]}: ${BASH_REMATCH[1]}"
	fi
	builtin printf '%s\n' "$__toolcell__said" >&2
	builtin return "$__toolcell__status"
}

__toolcell_listed() { # what trap -p says
	local __toolcell__name __toolcell__word __toolcell__out __toolcell__line
	__toolcell_guarded "${__toolcell_kept[DEBUG]+${__toolcell_kept[DEBUG]#* }}"
	local __toolcell__guarded=$__toolcell__line
	if (($#)); then shift; fi
	if [[ ${1-} == -- ]]; then shift; fi
	if (($# == 0)); then
		__toolcell__out=$'\n'$(builtin trap -p)$'\n'
		if [[ $__toolcell__out == $'\n'"$__toolcell_hooked"$'\n'* && $__toolcell_trap ]]; then builtin printf '%s\n' "$__toolcell_trap"; fi
		for __toolcell__line in "$__toolcell_hooked" "$__toolcell_inters" "$__toolcell_watched" "${__toolcell_tools:+trap -- ':' SIGXFSZ}" "$__toolcell__guarded" "trap -- '${__toolcell_catch-}' ERR" "trap -- '' "{DEBUG,ERR,RETURN} "${__toolcell_kept[@]#* }"; do
			[[ ! $__toolcell__line ]] || __toolcell__out=${__toolcell__out/$'\n'"$__toolcell__line"$'\n'/$'\n'}
		done
		__toolcell__out=${__toolcell__out#$'\n'}
		builtin printf '%s' "$__toolcell__out"
		set -- DEBUG ERR RETURN
	fi
	for __toolcell__name; do
		__toolcell_named "$__toolcell__name"
		case $__toolcell__word in
		DEBUG | ERR | RETURN)
			if __toolcell_seen "$__toolcell__word" 2; then builtin printf '%s\n' "${__toolcell_kept[$__toolcell__word]#* }"; fi
			continue
			;;
		esac
		__toolcell__out=$(__toolcell_builtin -p "$__toolcell__name")
		if [[ $__toolcell__out == "$__toolcell_hooked" ]]; then __toolcell__out=$__toolcell_trap; fi
		if [[ $__toolcell__out && $__toolcell__out != "$__toolcell_inters" ]]; then builtin printf '%s\n' "$__toolcell__out"; fi
	done
}


# A program's traps. What the shell itself has for EXIT is the driver's, so that the
# state goes on also where a program has a trap of its own; that one is kept in
# __toolcell_trap, as trap -p says it, and runs before. trap is a function that says
# and changes the program's. Who goes past it, by builtin trap, is noticed by exit,
# by an interrupt and by the next run.

__toolcell_hook='{ __toolcell_exit "$BASH" && : "$BASH"; } 2>/dev/null; builtin eval "$__toolcell_last"; { __toolcell_quiet; } 2>/dev/null; __toolcell_gone'
__toolcell_hooked="trap -- '$__toolcell_hook' EXIT"

__toolcell_absorb() { # puts the driver's trap back, and keeps what the program had set in its place
	local __toolcell__line
	__toolcell__line=$(builtin trap -p EXIT)
	if [[ $__toolcell__line == *__toolcell_exit* ]]; then builtin return; fi
	if [[ $__toolcell_set ]]; then __toolcell_trap=$__toolcell__line; fi
	__toolcell_set=1
	builtin trap "$__toolcell_hook" EXIT
}

__toolcell_wrap() { # defines trap
	trap() {
		{ local - __toolcell__todo; set +efkuvxT; } 2>/dev/null
		__toolcell_trapping "$@"
		builtin eval "$__toolcell__todo"
	}
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
	-*) __toolcell__todo='builtin trap "$@"' && builtin return ;;
	esac
	if (($# == 0)); then __toolcell__todo=__toolcell_listed && builtin return; fi
	# A first argument that is a number, and one that is alone, is no action.
	if (($# > 1)) && [[ ! $1 || $1 == *[!0-9]* || ${#1} -gt 2 || 10#$1 -gt 64 ]]; then
		__toolcell__action=$1
		shift
	elif (($# == 1)) && __toolcell_named "$1" && [[ ! $__toolcell__word ]]; then
		__toolcell__todo='__toolcell_builtin "$@"' && builtin return
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
				__toolcell__first+='builtin trap __toolcell_int INT; '
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
	if [[ $__toolcell__rest ]]; then __toolcell__rest="__toolcell_builtin -- $__toolcell__q$__toolcell__rest"; fi
	__toolcell__todo="$__toolcell__first$__toolcell__rest$__toolcell__last"
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
	local __toolcell__line __toolcell__line_q
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
	DEBUG) __toolcell__last+=$'\n'"builtin $__toolcell__line" ;; # or it would see what follows
	ERR) __toolcell__first+="builtin $__toolcell__line; " ;;
	RETURN)
		builtin printf -v __toolcell__line_q %q "builtin $__toolcell__line"
		__toolcell__first+="builtin trap -- $__toolcell__line_q RETURN; "
		;;
	esac
}

# This tells whether whoever has called trap, that many functions further out, has one
# of DEBUG, ERR and RETURN, by what the wrapper has kept of it.
__toolcell_seen() {
	local __toolcell__flag=T
	if [[ $1 == ERR ]]; then __toolcell__flag=E; fi
	[[ ${__toolcell_kept[$1]-} ]] && ((${__toolcell_kept[$1]%% *} >= ${#FUNCNAME[@]} - 1 - $2)) || [[ ${__toolcell_kept[$1]-} && $- == *$__toolcell__flag* ]]
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
	if (($#)); then shift; fi
	if [[ ${1-} == -- ]]; then shift; fi
	if (($# == 0)); then
		__toolcell__out=$'\n'$(builtin trap -p)$'\n'
		if [[ $__toolcell__out == $'\n'"$__toolcell_hooked"$'\n'* && $__toolcell_trap ]]; then builtin printf '%s\n' "$__toolcell_trap"; fi
		for __toolcell__line in "$__toolcell_hooked" "trap -- '__toolcell_int' SIGINT" "trap -- '${__toolcell_catch-}' ERR" "trap -- '' "{DEBUG,ERR,RETURN} "${__toolcell_kept[@]#* }"; do
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
		if [[ $__toolcell__out && $__toolcell__out != "trap -- '__toolcell_int' SIGINT" ]]; then builtin printf '%s\n' "$__toolcell__out"; fi
	done
}

__toolcell_exit() { # begins the end of the shell; sets __toolcell_last to the program's part in it
	__toolcell_status=$?
	__toolcell_last=''
	if [[ $BASHPID != "$__toolcell_pid" || ! $__toolcell_run ]]; then builtin return "$__toolcell_status"; fi
	__toolcell_quiet
	local __toolcell__own=$__toolcell_trap
	if [[ $__toolcell_ending == unbegun ]]; then __toolcell__own=''; fi # it is no end of a program
	__toolcell_ending=state
	if [[ $__toolcell_once ]]; then
		__toolcell_ending=once
	elif __toolcell_killed; then
		__toolcell_ending=killed
	fi
	if [[ ! $__toolcell__own ]]; then builtin return "$__toolcell_status"; fi
	local __toolcell__action
	__toolcell_action "$__toolcell__own"
	if [[ $__toolcell__action == *return* ]]; then # which, where exit is a function, would leave the trap as a whole
		__toolcell_within=$__toolcell__action
		__toolcell__action='__toolcell_return "$@"'
	fi
	__toolcell_last=$__toolcell__action$'\n{ builtin true; } 2>/dev/null' # so that eval does not fail once more
	local __toolcell__opts=$__toolcell_opts
	if [[ $__toolcell__opts == *x* ]]; then __toolcell_last="{ set -x; } 2>/dev/null; $__toolcell_last"; fi
	if [[ $__toolcell_ending == state ]]; then # a failure under set -e would be the end of the shell
		__toolcell__action=''
		__toolcell_errtrace=${-//[!E]/}
		if __toolcell_seen ERR $((1 + (${#FUNCNAME[@]} > 1))); then __toolcell_action "${__toolcell_kept[ERR]#* }"; fi
		__toolcell_error=$__toolcell__action
		__toolcell_catch='{ __toolcell_erring && :; } 2>/dev/null'"${__toolcell_error:+; builtin eval \"\$__toolcell_error\"}"'; { __toolcell_erred; } 2>/dev/null'
		builtin trap "$__toolcell_catch" ERR
		set -E
	fi
	__toolcell_opts=${__toolcell_opts//x/}
	__toolcell_loud
	__toolcell_opts=$__toolcell__opts
	builtin return "$__toolcell_status"
}

__toolcell_return() {
	builtin eval "$__toolcell_within"
}

__toolcell_action() { # sets __toolcell__action to what is between the quotes of a line of trap -p
	builtin eval "set -- ${1#trap }"
	__toolcell__action=$2
}

__toolcell_erring() { # notes the status of what fails in a trap of EXIT
	__toolcell_failed=$?
	builtin return "$__toolcell_failed"
}

__toolcell_erred() {
	if [[ $- != *e* || $BASHPID != "$__toolcell_pid" ]]; then builtin return "$__toolcell_failed"; fi
	__toolcell_status=$__toolcell_failed
	__toolcell_quiet
	__toolcell_gone
}

__toolcell_gone() { # goes through with the end of the shell
	case $__toolcell_ending in
	state) ;;
	killed) builtin return 0 ;; # it goes on to die of the signal
	once) __toolcell_settle ;;&
	*) builtin return "$__toolcell_status" ;;
	esac
	__toolcell_traps=$(builtin trap -p)
	if [[ $__toolcell_last && ! $__toolcell_errtrace ]]; then set +E; fi
	builtin trap '' INT # an interrupt that comes now is too late, and must not cut the state off
	__toolcell_done "$__toolcell_status" x
	__toolcell_state=$(builtin trap - EXIT ERR; __toolcell_state)
	builtin trap : INT # what is ignored, the new shell could not trap
	local __toolcell__line
	while IFS= builtin read -r __toolcell__line; do
		if [[ $__toolcell__line == "trap -- '' "* ]]; then builtin trap : "${__toolcell__line##* }"; fi
	done <<<"$__toolcell_traps"
	__toolcell_restore
	exec -a bash "$__toolcell_bash" --norc --noprofile -c "$__toolcell_driver" bash "$__toolcell_driver" "$__toolcell_opts" 231<<<"$__toolcell_state"
}

# A signal that ends the shell leaves the status of the command before. Without an
# error or an exit by which it could have come here, it was one: the shell goes on to
# die of it.
__toolcell_killed() {
	[[ $__toolcell_status == 0 && ! $__toolcell_interrupted && ! $__toolcell_leaving && $(declare -f exit) == *__toolcell_leaving* ]]
}

__toolcell_leave() { # how many arguments exit has; fails where these are too many to leave by
	(($1 <= 1)) || builtin return 1
	if [[ $BASHPID != "$__toolcell_pid" ]]; then builtin return 0; fi
	if [[ $__toolcell_ending != state ]]; then
		__toolcell_absorb
		builtin return 0
	fi
	if (($1 == 1)); then # else it is that with which the trap began
		(builtin exit "$__toolcell_leaving")
		__toolcell_status=$?
	fi
	__toolcell_quiet
	__toolcell_gone
}

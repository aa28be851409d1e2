
# The end of a context's shell, which another one takes over, and of RunCode's with
# functions: the driver's trap of EXIT (see __toolcell_hook) calls __toolcell_exit, has
# the program's own trap run, and calls __toolcell_gone.

__toolcell_exit() { # begins the end of the shell; sets __toolcell_last to the program's part in it
	__toolcell_last=''
	if [[ $BASHPID != "$__toolcell_pid" || ! $__toolcell_run ]]; then builtin return "$__toolcell_status"; fi
	__toolcell_quiet "$__toolcell_opts"
	local __toolcell__own=$__toolcell_trap
	if [[ $__toolcell_ending == unbegun ]]; then __toolcell__own=''; fi # it is no end of a program
	__toolcell_ending=state
	if [[ $__toolcell_once ]]; then
		__toolcell_ending=once
	elif __toolcell_killed; then
		__toolcell_ending=killed
	fi
	if [[ ! $__toolcell__own ]]; then builtin return "$__toolcell_status"; fi
	local __toolcell__action __toolcell__opts=$__toolcell_opts __toolcell__in=0
	if [[ ${FUNCNAME[1]-} == exit ]]; then __toolcell__in=1; fi
	__toolcell_action "$__toolcell__own"
	if [[ $__toolcell__action == *return* ]]; then # which, where exit is a function, would leave the trap as a whole
		__toolcell_within=$__toolcell__action
		__toolcell__action='__toolcell_return "$@"'
	fi
	__toolcell_last=$__toolcell__action$'\n{ builtin true; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}' # so that eval does not fail once more
	if [[ $__toolcell__opts == *x* ]]; then __toolcell_last='{ set -x; __toolcell_began && :; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; '$__toolcell_last; fi
	if [[ $__toolcell_ending == state ]]; then __toolcell_catching; fi
	if ((__toolcell__in)); then # the traps that are gone in a function, which exit is no more to be
		if __toolcell_seen DEBUG 2; then
			__toolcell_guarded "${__toolcell_kept[DEBUG]#* }"
			builtin eval "builtin $__toolcell__line"
		fi
		if __toolcell_seen RETURN 2; then
			__toolcell_unseen "${__toolcell_kept[RETURN]#* }"
			builtin eval "$__toolcell__line"
		fi
	fi
	unset -v BASH_COMMAND # with which it is a variable like others, as it is in a trap
	BASH_COMMAND=$__toolcell_command
	__toolcell_split "$__toolcell_ifs"
	__toolcell_options "${__toolcell_opts//x/}"
	__toolcell_opts=$__toolcell__opts
	builtin return "$__toolcell_status"
}

__toolcell_began() { # begins a trap of EXIT, or a program, under set -x
	__toolcell_mute=0
	builtin return "$__toolcell_status"
}

# A failure in a trap of EXIT would be the end of the shell under set -e. A trap of ERR
# sees that first, also in functions and subshells; it calls the program's where that is
# to see it.
__toolcell_catching() {
	__toolcell__action=''
	__toolcell_errtrace=${__toolcell_opts//[!E]/}
	if __toolcell_seen ERR $((2 + __toolcell__in)); then __toolcell_action "${__toolcell_kept[ERR]#* }"; fi
	__toolcell_error=$__toolcell__action
	__toolcell_depth=$((${#FUNCNAME[@]} - 2))
	builtin trap "$__toolcell_catch" ERR
	__toolcell_opts+=E
}

__toolcell_catch='{ __toolcell_failed=$? __toolcell_flags=$-; set +T; __toolcell_erring && :; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; builtin eval "$__toolcell_now${__toolcell_none[__toolcell_mute=0]-}"; { set +T; __toolcell_erred; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}'

__toolcell_erring() { # notes what fails in a trap of EXIT, and whether the program has a trap for it
	__toolcell_now=''
	if [[ $__toolcell_errtrace || $BASHPID == "$__toolcell_pid" && ${#FUNCNAME[@]} -eq $((__toolcell_depth + 1)) ]]; then __toolcell_now=$__toolcell_error; fi
	if [[ $__toolcell_flags == *T* ]]; then set -T; fi
	builtin return "$__toolcell_failed"
}

__toolcell_erred() {
	if [[ $- == *e* && $BASHPID == "$__toolcell_pid" ]]; then
		__toolcell_status=$__toolcell_failed
		__toolcell_quiet "$-$__toolcell_flags"
		__toolcell_gone
	fi
	if [[ $__toolcell_flags == *T* ]]; then set -T; fi
	__toolcell_mute=0 __toolcell_flags=''
	builtin return "$__toolcell_failed"
}

__toolcell_return() {
	builtin eval "$__toolcell_within"
}

__toolcell_action() { # sets __toolcell__action to what is between the quotes of a line of trap -p
	builtin eval "set -- ${1#trap }"
	__toolcell__action=$2
}

__toolcell_gone() { # goes through with the end of the shell
	case $__toolcell_ending in
	state) ;;
	killed) builtin return 0 ;; # it goes on to die of the signal
	once) __toolcell_settle ;;&
	*) builtin return 0 ;; # the shell keeps the status that it has
	esac
	__toolcell_traps=$(builtin trap -p)
	if [[ $__toolcell_last && ! $__toolcell_errtrace ]]; then __toolcell_opts=${__toolcell_opts//E/}; fi
	builtin trap '' INT # an interrupt that comes now is too late, and must not cut the state off
	__toolcell_done "$__toolcell_status" x
	__toolcell_state=$(builtin trap - EXIT ERR; __toolcell_state)
	builtin trap : INT # what is ignored, the new shell could not trap
	local __toolcell__line
	while IFS= builtin read -r __toolcell__line; do
		if [[ $__toolcell__line == "trap -- '' "* ]]; then builtin trap : "${__toolcell__line##* }"; fi
	done <<<"$__toolcell_traps"
	__toolcell_restore
	builtin shopt -u varredir_close 2>/dev/null
	# Without a descriptor for it the state is gone, and the process with it.
	exec {__toolcell_from}<<<"$__toolcell_state" || builtin return 0
	exec -a bash "$__toolcell_bash" --norc --noprofile -c "$__toolcell_boot" bash "$__toolcell_driver" "$__toolcell_opts" "$__toolcell_from"
}

# A signal that ends the shell leaves the status of the command before. Without an
# error or an exit by which it could have come here, it was one: the shell goes on to
# die of it. BASH_COMMAND is that of boot.sh once a program has been left, and where a
# signal has come the program's or the loop's.
__toolcell_killed() {
	[[ $__toolcell_status == 0 && ! $__toolcell_interrupted && ! $__toolcell_leaving && $BASH_COMMAND != *__toolcell_program* ]]
}

__toolcell_leave() { # the arguments of exit; fails where it does not leave by these
	__toolcell_instead=''
	if [[ $# == 2 && $1 == -- ]]; then
		shift
		__toolcell_leaving=$1
	fi
	if (($# > 1)) || [[ $# == 1 && ! $1 =~ ^[[:space:]]*[-+]?[0-9]+[[:space:]]*$ ]]; then
		__toolcell_instead=__toolcell_refuse
		builtin return 1
	fi
	if [[ $BASHPID != "$__toolcell_pid" ]]; then builtin return 0; fi
	if [[ $__toolcell_ending != state ]]; then
		__toolcell_absorb
		[[ $__toolcell_command == exit* ]] || __toolcell_command="exit${*:+ $*}"
		set +x # builtin exit is the driver's
		builtin return 0
	fi
	if (($# == 1)); then # else it is that with which the trap began
		(builtin exit "$__toolcell_leaving")
		__toolcell_status=$?
	fi
	__toolcell_quiet "$-$__toolcell_flags"
	__toolcell_gone
}

__toolcell_refuse() { # has exit say what is wrong with its arguments, which ends the program or its trap of EXIT
	local __toolcell__said='too many arguments'
	if [[ ! $3 =~ ^[[:space:]]*[-+]?[0-9]+[[:space:]]*$ ]]; then
		__toolcell__said="$3: numeric argument required"
		__toolcell_status=2
	fi
	builtin printf '%s: line %d: exit: %s\n' "${BASH_SOURCE[2]-bash}" "${BASH_LINENO[1]}" "$__toolcell__said" >&2
	if [[ $__toolcell_ending == state && $BASHPID == "$__toolcell_pid" ]]; then
		{ __toolcell_quiet "$-$__toolcell_flags"; } 2>/dev/null
		__toolcell_gone
	fi
	"$@" 2>/dev/null
}

__toolcell_int() {
	if [[ $__toolcell_run && $BASHPID == "$__toolcell_pid" ]]; then
		__toolcell_interrupted=1
		__toolcell_flags=$-
		{ set +ETx; } 2>/dev/null # what follows is no part of the program
		if [[ $__toolcell_ending == state ]]; then # the program's trap of EXIT is under way
			{ __toolcell_quiet "$__toolcell_flags"; } 2>/dev/null
			__toolcell_status=130
			__toolcell_gone
		fi
		__toolcell_absorb
		builtin exit 130
	fi
}

__toolcell_state() { # prints what makes a new shell like this one
	local __toolcell_name __toolcell__line __toolcell__posix='' IFS=$' \t\n'
	if [[ -o posix ]]; then __toolcell__posix="$(declare -p POSIXLY_CORRECT; shopt -p)"; fi
	set +o posix                      # it forbids to define exit, and comes back at the end
	builtin printf 'set +o posix\n' # which its variable in the environment has set
	shopt -p
	set +o
	umask -p
	for __toolcell_name in $(compgen -v); do
		case $__toolcell_name in
		__toolcell* | BASH | BASHOPTS | BASHPID | BASH_* | COMP_WORDBREAKS | DIRSTACK | EPOCHREALTIME | EPOCHSECONDS | EUID | FUNCNAME | GROUPS | HISTCMD | IFS | LINENO | PIPESTATUS | PPID | RANDOM | SECONDS | SHELLOPTS | SRANDOM | UID | _) continue ;;
		esac
		declare -p "$__toolcell_name" 2>/dev/null
	done
	while IFS= builtin read -r __toolcell_name; do [[ $__toolcell_name == *__toolcell* ]] || builtin printf '%s\n' "$__toolcell_name"; done <<<"$__toolcell_traps"
	declare -f
	alias -p
	builtin printf 'IFS=%q\n' "$__toolcell_ifs"
	builtin printf '__toolcell_%s\n' "ctl=$__toolcell_ctl" "pipe=$__toolcell_pipe" "send_pipe=$__toolcell_send_pipe" "out=$__toolcell_out" "err=$__toolcell_err"
	builtin printf '__toolcell_tools=%q\n__toolcell_status=%q\n__toolcell_trap=%q\n' "$__toolcell_tools" "$__toolcell_status" "$__toolcell_trap"
	for __toolcell_name in ERR RETURN DEBUG; do
		[[ ${__toolcell_kept[$__toolcell_name]-} ]] || continue
		builtin printf '__toolcell_kept[%s]=%q\n' "$__toolcell_name" "0 ${__toolcell_kept[$__toolcell_name]#* }"
		__toolcell_guarded "${__toolcell_kept[$__toolcell_name]#* }"
		builtin printf 'builtin %s\n' "$__toolcell__line"
	done
	builtin printf '%s\n' "$__toolcell__posix"
}

# An exit within a function leaves the function's redirections as they are, and the
# new shell would have them for good.
__toolcell_restore() {
	{ builtin printf '' >&"$__toolcell_out"; } 2>/dev/null && exec >&"$__toolcell_out"
	{ builtin printf '' >&"$__toolcell_err"; } 2>/dev/null && exec 2>&"$__toolcell_err"
}

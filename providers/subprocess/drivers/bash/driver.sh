# The bash driver: runs programs in this very shell and speaks frames on descriptor 3,
# which it moves out of the program's way. The shell's command is one line (boot.sh), so
# that the line numbers in bash's messages are the program's own; its first argument is
# this file. In a context the line is a loop that evaluates one program after the other.
#
# A program that ends the shell, by exit, set -e or a signal, ends the context's state:
# the host sees the process end. Traps, exit and options are bash's own. An interrupt
# ends the program alone: a trap of DEBUG skips the commands that are left of it.
#
# All names of the driver begin with __toolcell, but for tool.

__toolcell_pid=$BASHPID
__toolcell_once=0 __toolcell_run='' __toolcell_code='' __toolcell_status=0 __toolcell_opts='' __toolcell_flags='' __toolcell_ifs=$' \t\n'
__toolcell_stopped='' __toolcell_announced='' __toolcell_sent='' __toolcell_tools=''
__toolcell_fields=() __toolcell_old=()
set --

__toolcell_send() { # kind, fields
	local LC_ALL=C __toolcell__size=1 __toolcell__f __toolcell__head
	for __toolcell__f in "${@:2}"; do __toolcell__size=$((__toolcell__size + 8 + ${#__toolcell__f})); done
	builtin printf -v __toolcell__head '%08x%s' "$__toolcell__size" "$1"
	{
		builtin printf '%s' "$__toolcell__head"
		for __toolcell__f in "${@:2}"; do builtin printf '%08x%s' "${#__toolcell__f}" "$__toolcell__f"; done
	} >&"$__toolcell_ctl"
}

__toolcell_take() { # length; sets __toolcell_bytes to that many bytes of the channel
	local LC_ALL=C __toolcell__part __toolcell__left=$1 __toolcell__status
	__toolcell_bytes=
	# read takes a byte at a time from a socket.
	if ((__toolcell__left > 4096)); then
		# The x keeps newlines at the end. An interrupt goes to all processes.
		until [[ $__toolcell_bytes == *x ]]; do
			__toolcell_bytes=$(builtin trap '' INT; command -p head -c "$__toolcell__left" <&"$__toolcell_ctl"; builtin printf x)
		done
		__toolcell_bytes=${__toolcell_bytes%x}
		((${#__toolcell_bytes} == __toolcell__left)) || builtin exit 1
		builtin return 0
	fi
	while ((__toolcell__left > 0)); do
		builtin read -r -d '' -N "$__toolcell__left" -u "$__toolcell_ctl" __toolcell__part
		__toolcell__status=$?
		__toolcell_bytes+=$__toolcell__part
		__toolcell__left=$((__toolcell__left - ${#__toolcell__part}))
		# Above 128 a trap has interrupted it. Else the host is gone.
		if ((__toolcell__status > 0 && __toolcell__status <= 128 && __toolcell__left > 0)); then
			builtin trap - EXIT
			builtin exit 1
		fi
	done
}

__toolcell_receive() { # id of a call whose answer stays here, if any; sets __toolcell_kind and __toolcell_fields
	local __toolcell__size __toolcell__n __toolcell__at=1
	__toolcell_take 8
	__toolcell__size=$((16#$__toolcell_bytes))
	__toolcell_take 1
	__toolcell_kind=$__toolcell_bytes
	__toolcell_fields=()
	while ((__toolcell__at < __toolcell__size)); do
		__toolcell_take 8
		__toolcell__n=$((16#$__toolcell_bytes))
		__toolcell_take "$__toolcell__n"
		__toolcell_fields+=("$__toolcell_bytes")
		__toolcell__at=$((__toolcell__at + 8 + __toolcell__n))
	done
	case $__toolcell_kind in
	I) __toolcell_announced=${__toolcell_fields[0]} ;;
	K) __toolcell_sent=${__toolcell_fields[0]} ;;
	V) __toolcell_deliver "$1" ;;
	esac
}

__toolcell_begin() { # configures the shell, and reads the only program of one that has no context
	{ true 230<&3; } 2>/dev/null && __toolcell_ctl=230 || __toolcell_ctl=$(($(ulimit -n) - 2))
	builtin eval "exec $__toolcell_ctl<&3 3<&-"
	__toolcell_serve
	if ((__toolcell_once)); then
		__toolcell_serve
		__toolcell_prepare
		if [[ $__toolcell_tools ]]; then
			__toolcell_unlock r s
		else
			builtin eval "exec $__toolcell_ctl<&-"
		fi
	else
		builtin trap __toolcell_interrupt INT
	fi
}

__toolcell_serve() { # serves the host until it has configured the shell or sent a program
	while ((1)); do
		__toolcell_receive
		case $__toolcell_kind in
		C)
			if [[ ${__toolcell_fields[0]} == once ]]; then __toolcell_once=1; fi
			__toolcell_setenv "${__toolcell_fields[@]:1}"
			__toolcell_old=()
			__toolcell_send H "bash ${BASH_VERSION%%(*}"
			builtin return 0
			;;
		N) __toolcell_offer "${__toolcell_fields[@]}" ;;
		R) builtin return 0 ;;
		esac
	done
}

__toolcell_ready() { # waits for the next program of a context
	local __toolcell__next
	__toolcell_split $' \t\n'
	__toolcell_serve
	__toolcell__next=${__toolcell_fields[0]}
	__toolcell_prepare
	__toolcell_stopped=''
	while builtin read -r -t 0 -u "$__toolcell_ctl"; do __toolcell_receive; done
	if [[ $__toolcell_announced == "$__toolcell__next" ]]; then # interrupted before it began
		while [[ $__toolcell_sent != "$__toolcell__next" ]]; do __toolcell_receive; done
		__toolcell_stopped=$- __toolcell_code=''
	fi
	__toolcell_run=$__toolcell__next
	__toolcell_unlock r s
}

__toolcell_prepare() {
	local LC_ALL=C __toolcell__file=${__toolcell_fields[2]}
	__toolcell_run=${__toolcell_fields[0]}
	((__toolcell_once)) || __toolcell_run=''
	__toolcell_code=${__toolcell_fields[1]}
	if [[ ${__toolcell_code:0:3} == $'\xef\xbb\xbf' ]]; then __toolcell_code=${__toolcell_code:3}; fi
	__toolcell_code=${__toolcell_code//$'\r\n'/$'\n'}
	if [[ $__toolcell__file ]]; then
		exec <"$__toolcell__file"
		(builtin trap '' INT; command -p rm -f -- "$__toolcell__file") # an interrupt goes to all processes
	else
		exec </dev/null
	fi
	__toolcell_setenv "${__toolcell_fields[@]:3}"
	__toolcell_fields=()
}

__toolcell_split() { # what IFS is to be; to assign to one that is readonly would end the shell
	[[ ${IFS@a} == *r* ]] || IFS=$1
}

__toolcell_loud() { # gives the program its options, IFS and $?
	__toolcell_split "$__toolcell_ifs"
	if [[ $__toolcell_opts == *x* ]]; then __toolcell_code='{ set -x; __toolcell_begun && :; } 2>/dev/null; '$__toolcell_code; fi
	if [[ ${__toolcell_opts//x/} ]]; then set "-${__toolcell_opts//x/}"; fi
	__toolcell_begun
}

__toolcell_begun() { builtin return "$__toolcell_status"; }

__toolcell_interrupt() { # SIGINT: skips what is left of the program
	[[ $__toolcell_run && $BASHPID == "$__toolcell_pid" && ! $__toolcell_stopped ]] || builtin return 0
	__toolcell_stopped=$-
	builtin shopt -s extdebug
	builtin trap 'case ${FUNCNAME-}:$BASH_COMMAND in *__toolcell*) ;; *) ! builtin break 2>/dev/null ;; esac' DEBUG
}

__toolcell_left() { # a program has left the loop by break, or begun it again by continue
	if [[ ! $__toolcell_stopped ]]; then
		builtin printf '%s\n' "bash: break and continue are only meaningful in a loop: the program ended there" >&2
		__toolcell_status=1
	fi
	if [[ $1 ]]; then builtin exit 1; fi
	__toolcell_done
}

__toolcell_done() { # ends a run of a context
	local __toolcell__how=ok __toolcell__run=$__toolcell_run
	__toolcell_run=
	if ((__toolcell_status != 0)); then __toolcell__how=exit; fi
	if [[ $__toolcell_stopped ]]; then
		builtin shopt -u extdebug
		set +ET
		__toolcell__how=interrupt __toolcell_status=130 __toolcell_flags=$__toolcell_stopped
	fi
	__toolcell_opts=${__toolcell_flags//[!eufkvxET]/} __toolcell_ifs=$IFS
	__toolcell_split $' \t\n'
	__toolcell_unsetenv
	exec </dev/null
	__toolcell_lock s r
	__toolcell_drain
	__toolcell_send Z "$__toolcell__run" "$__toolcell__how" "$__toolcell_status" '' '' 0 '' ''
}

__toolcell_setenv() { # names and values; notes what was there
	__toolcell_old=()
	local __toolcell__was
	while (($# > 1)); do
		if [[ $1 =~ ^[A-Za-z_][A-Za-z_0-9]*$ ]]; then
			if [[ -v $1 ]]; then __toolcell__was=("$1" "=${!1}" "$([[ ${!1@a} == *x* ]] && echo x)"); else __toolcell__was=("$1" '' ''); fi
			if { builtin export "$1=$2"; } 2>/dev/null; then
				__toolcell_old+=("${__toolcell__was[@]}")
			else
				builtin printf '%s: readonly variable: the run'"'"'s environment does not change it\n' "$1" >&2
			fi
		fi
		shift 2
	done
}

__toolcell_unsetenv() {
	set -- "${__toolcell_old[@]}"
	while (($# > 2)); do
		if [[ $2 ]]; then
			{ builtin export "$1=${2:1}" && { [[ $3 ]] || builtin export -n "$1"; }; } 2>/dev/null
		else
			{ unset -v "$1"; } 2>/dev/null
		fi || builtin printf '%s: readonly variable: it keeps what the run'"'"'s environment has set\n' "$1" >&2
		shift 3
	done
	__toolcell_old=()
}

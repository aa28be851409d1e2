
# tool calls a function of the host, from any subshell or job. There are two locks, each
# a byte in a pipe: s belongs to who writes to the channel, r to who reads from it; both
# to the driver while no program runs. A call that has r until its own answer comes puts
# those of others into files. A call that is killed in the midst of that keeps its lock.

__toolcell_try() { # lock, seconds; waits that long for the lock
	local __toolcell__fd=$__toolcell_pipe_r __toolcell__part=''
	if [[ $1 == s ]]; then __toolcell__fd=$__toolcell_pipe_s; fi
	builtin read -r -t "$2" -N 1 -u "$__toolcell__fd" __toolcell__part
	[[ $__toolcell__part ]] # also where the time was over at that moment
} 2>/dev/null

__toolcell_lock() { # locks; waits for each
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__name
	for __toolcell__name; do
		until __toolcell_try "$__toolcell__name" 1; do :; done
	done
}

__toolcell_unlock() { # locks
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__name
	for __toolcell__name; do
		if [[ $__toolcell__name == s ]]; then builtin printf x >&"$__toolcell_pipe_s"; else builtin printf x >&"$__toolcell_pipe_r"; fi
	done
}

__toolcell_deliver() { # id; gives an answer to its call, unless that is id
	local __toolcell__id=${__toolcell_fields[0]} __toolcell__at=$__toolcell_tools/${__toolcell_fields[0]}
	builtin printf 'V\n' >>"$__toolcell_tools/log"
	if [[ $__toolcell__id != "$1" && $__toolcell__id =~ ^[0-9]+-[0-9]+$ ]]; then
		builtin printf '%s' "${__toolcell_fields[2]}" >|"$__toolcell__at.text" &&
			builtin printf '%s' "${__toolcell_fields[1]}" >|"$__toolcell__at.how" ||
			builtin kill -KILL "${__toolcell__id%-*}" # or it would wait for what cannot be written
	fi
} 2>/dev/null

__toolcell_drain() { # takes the answers to all open calls; has both locks
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__line
	local -i __toolcell__open=0
	while builtin read -r __toolcell__line; do
		case $__toolcell__line in V) __toolcell__open+=-1 ;; Q) __toolcell__open+=1 ;; esac
	done <"$__toolcell_tools/log"
	while ((__toolcell__open > 0)); do
		__toolcell_receive
		if [[ $__toolcell_kind == V ]]; then __toolcell__open+=-1; fi
	done
	: >|"$__toolcell_tools/log"
} 2>/dev/null

__toolcell_offer() { # names of functions; has the locks, which it makes
	if (($# == 0)); then
		if [[ $(declare -f tool) == *__toolcell_call* ]]; then unset -f tool; fi
		builtin return
	fi
	if [[ ! $__toolcell_tools ]]; then
		local __toolcell__dir
		__toolcell__dir=$(command -p mktemp -d) && command -p mkfifo "$__toolcell__dir/r" "$__toolcell__dir/s" || builtin exit 1
		exec {__toolcell_pipe_r}<>"$__toolcell__dir/r" {__toolcell_pipe_s}<>"$__toolcell__dir/s"
		# From bash 5.2 on read -t waits in select, and two may see one byte: the pipes must
		# not block. Earlier ones interrupt read.
		((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 502)) || command -p dd iflag=nonblock oflag=nonblock count=0 <&"$__toolcell_pipe_r" >&"$__toolcell_pipe_s" 2>/dev/null
		command -p rm -f -- "$__toolcell__dir/r" "$__toolcell__dir/s"
		[[ $__toolcell__dir == /* ]] || __toolcell__dir=$PWD/$__toolcell__dir
		: >|"$__toolcell__dir/log"
		__toolcell_tools=$__toolcell__dir
	fi
	tool() (
		{ set +eufkvxET; } 2>/dev/null
		__toolcell_call "$@"
	)
}

__toolcell_call() { # name, arguments; prints the result of a function of the host
	__toolcell_split $' \t\n'
	local __toolcell__name=$1 __toolcell__args=$2 __toolcell__id=$BASHPID-$RANDOM$RANDOM __toolcell__status=0
	if (($# == 0 || $# > 2)); then
		builtin printf '%s\n' "usage: tool name '{\"argument\": 1}'" >&2
		builtin exit 2
	fi
	__toolcell_fits || { builtin printf '%s: the arguments have %d bytes; %d are the limit\n' "$__toolcell__name" "$(LC_ALL=C; builtin printf %d "${#__toolcell__args}")" "$((48 << 20))" >&2; builtin exit 1; }
	builtin trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2 XFSZ # an exchange is finished
	umask 077
	__toolcell_lock s
	if ! { builtin printf 'Q\n' >>"$__toolcell_tools/log"; } 2>/dev/null; then
		__toolcell_unlock s
		builtin printf '%s: the files of calls cannot be written: the disk may be full, or ulimit -f too low\n' "$__toolcell__name" >&2
		builtin exit 1
	fi
	__toolcell_send Q "$__toolcell_run" "$__toolcell__id" "$__toolcell__name" "$__toolcell__args"
	__toolcell_unlock s
	__toolcell_await "$__toolcell__id"
	builtin trap - HUP INT QUIT PIPE ALRM TERM USR1 USR2 XFSZ
	if [[ $__toolcell_how == ok ]]; then
		builtin printf '%s\n' "$__toolcell_text" || __toolcell__status=$?
	else # the result of a run says that it has ended
		[[ $__toolcell_how == ended ]] || builtin printf '%s: %s\n' "$__toolcell__name" "$__toolcell_text" >&2
		__toolcell__status=1
	fi
	builtin exit "$__toolcell__status"
}

__toolcell_await() { # id; sets __toolcell_how and __toolcell_text to its answer
	local __toolcell__at=$__toolcell_tools/$1
	while [[ ! -s $__toolcell__at.how ]]; do
		__toolcell_try r 0.05 || continue
		while [[ ! -s $__toolcell__at.how ]]; do
			__toolcell_receive "$1"
			if [[ $__toolcell_kind == V && ${__toolcell_fields[0]} == "$1" ]]; then
				__toolcell_how=${__toolcell_fields[1]} __toolcell_text=${__toolcell_fields[2]}
				__toolcell_unlock r
				builtin return
			fi
		done
		__toolcell_unlock r
	done
	__toolcell_how=$(<"$__toolcell__at.how") __toolcell_text=$(<"$__toolcell__at.text")
	command -p rm -f -- "$__toolcell__at.how" "$__toolcell__at.text"
}

__toolcell_fits() { # whether the host takes a frame with name and arguments
	local LC_ALL=C
	((${#__toolcell__name} + ${#__toolcell__args} < 48 << 20))
}

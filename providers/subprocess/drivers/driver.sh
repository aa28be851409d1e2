# The bash driver: runs programs in this very shell and speaks frames on fd 3,
# which it moves out of the program's way. The shell's command is one line (boot.sh),
# so that the numbers of lines in bash's messages are the program's own; its first
# argument is all the rest, which that line evaluates. What it evaluates at last is the
# only program of a shell, behind which nothing of the driver follows that a trap could
# see, or, in a context, the loop __toolcell_programs.
#
# A program that exits, is interrupted or fails under set -e ends the shell. The
# driver's EXIT trap, in end.sh, then writes down the state (variables, functions,
# options, aliases, traps) and starts a new shell in its place with all of it, so that the
# context goes on. All names of the driver begin with __toolcell, but for tool, trap and
# exit.
#
# tool calls a function of the host, from any subshell or job. There are two locks,
# each a byte in a pipe: s is held by who writes to the channel, and r by who reads
# from it, both by this shell whenever no program runs. A call that holds r until
# its own answer has come hands those of others to them, in files of a directory.

__toolcell_lower() { # has the driver's descriptors below the limit of open ones
	local -i __toolcell__most
	__toolcell__most=$(ulimit -n)
	__toolcell_ctl=$((__toolcell__most - 2)) __toolcell_pipe=$((__toolcell__most - 3)) __toolcell_send_pipe=$((__toolcell__most - 4))
	__toolcell_out=$((__toolcell__most - 5)) __toolcell_err=$((__toolcell__most - 6))
}

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
	local LC_ALL=C __toolcell__part __toolcell__left=$1
	__toolcell_bytes=
	# read takes a byte at a time from what is no file.
	if ((__toolcell__left > 4096)); then
		# Something follows, since $() drops the newlines at the end.
		# An interrupt, which goes to all processes, may end nobody who has read a part.
		until [[ $__toolcell_bytes == *x ]]; do
			__toolcell_bytes=$(builtin trap '' INT; command -p head -c "$__toolcell__left" <&"$__toolcell_ctl"; builtin printf x)
		done
		__toolcell_bytes=${__toolcell_bytes%x}
		((${#__toolcell_bytes} == __toolcell__left)) || builtin exit 1
		builtin return 0
	fi
	while ((__toolcell__left > 0)); do
		builtin read -r -d '' -N "$__toolcell__left" -u "$__toolcell_ctl" __toolcell__part
		local __toolcell__status=$?
		__toolcell_bytes+=$__toolcell__part
		__toolcell__left=$((__toolcell__left - ${#__toolcell__part}))
		# Above 128 a trap has ended it, and it goes on. Else the host is gone: no new
		# shell is to be started.
		if ((__toolcell__status > 0 && __toolcell__status <= 128 && __toolcell__left > 0)); then
			__toolcell_run=
			builtin trap - EXIT
			builtin exit 1
		fi
	done
}

__toolcell_receive() { # sets __toolcell_kind and __toolcell_fields
	local __toolcell__size __toolcell__at=1
	__toolcell_take 8
	__toolcell__size=$((16#$__toolcell_bytes))
	__toolcell_take 1
	__toolcell_kind=$__toolcell_bytes
	__toolcell_fields=()
	while ((__toolcell__at < __toolcell__size)); do
		__toolcell_take 8
		local __toolcell__n=$((16#$__toolcell_bytes))
		__toolcell_take "$__toolcell__n"
		__toolcell_fields+=("$__toolcell_bytes")
		__toolcell__at=$((__toolcell__at + 8 + __toolcell__n))
	done
}

__toolcell_heed() { # notes what was received of an interrupt
	case $__toolcell_kind in
	I) __toolcell_off=${__toolcell_fields[0]} ;;
	K) __toolcell_sent=${__toolcell_fields[0]} ;;
	esac
}

__toolcell_try() { # lock, seconds; waits that long until nobody else holds the lock
	local __toolcell__fd=$__toolcell_pipe __toolcell__part=''
	if [[ $1 == s ]]; then __toolcell__fd=$__toolcell_send_pipe; fi
	builtin read -r -t "$2" -N 1 -u "$__toolcell__fd" __toolcell__part
	if [[ $__toolcell__part ]]; then # also where the time was over at that moment
		builtin printf '%s' "$BASHPID-$RANDOM$RANDOM" >|"$__toolcell_tools/$1"
		builtin return 0
	fi
	__toolcell_recover "$1" "$__toolcell__fd" # who held it may have been killed
	builtin return 1
} 2>/dev/null

__toolcell_recover() { # lock, its pipe; takes the lock from one who is dead
	local __toolcell__holder='' __toolcell__stat='' __toolcell__still=''
	builtin read -r __toolcell__holder <"$__toolcell_tools/$1"
	[[ $__toolcell__holder ]] || builtin return 0
	if builtin kill -0 "${__toolcell__holder%%-*}"; then
		builtin read -r __toolcell__stat <"/proc/${__toolcell__holder%%-*}/stat"
		[[ ${__toolcell__stat##*) } == Z* ]] || builtin return 0
	fi
	builtin read -r __toolcell__still <"$__toolcell_tools/$1" # whoever gives a lock back says so before
	[[ $__toolcell__still == "$__toolcell__holder" ]] || builtin return 0
	if (set -C; : >"$__toolcell_tools/dead-$__toolcell__holder"); then # once
		: >|"$__toolcell_tools/$1"
		builtin printf x >&"$2"
	fi
} 2>/dev/null

__toolcell_lock() { # locks; waits until nobody else holds them
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__name
	for __toolcell__name; do
		until __toolcell_try "$__toolcell__name" 1; do :; done
	done
}

__toolcell_unlock() { # locks
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__name __toolcell__fd
	for __toolcell__name; do
		__toolcell__fd=$__toolcell_pipe
		if [[ $__toolcell__name == s ]]; then __toolcell__fd=$__toolcell_send_pipe; fi
		: >|"$__toolcell_tools/$__toolcell__name"
		builtin printf x >&"$__toolcell__fd"
	done
} 2>/dev/null

__toolcell_deliver() { # id; hands the answer that was received to its call, unless it is that of id
	[[ $__toolcell_kind == V ]] || builtin return 1
	local __toolcell__id=${__toolcell_fields[0]}
	builtin printf 'V\n' >>"$__toolcell_tools/log"
	[[ $__toolcell__id == "$1" ]] && builtin return 0
	if [[ $__toolcell__id =~ ^[0-9]+-[0-9]+$ ]]; then
		builtin printf '%s' "${__toolcell_fields[2]}" >|"$__toolcell_tools/$__toolcell__id.text" &&
			builtin printf '%s' "${__toolcell_fields[1]}" >|"$__toolcell_tools/$__toolcell__id.how" ||
			builtin kill -KILL "${__toolcell__id%-*}" # or it would wait for what cannot be written
	fi
	builtin return 1
} 2>/dev/null

__toolcell_drain() { # takes the answers to all calls that are open; holds both locks
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__line
	local -i __toolcell__open=0
	while builtin read -r __toolcell__line; do
		case $__toolcell__line in V) __toolcell__open+=-1 ;; Q*) __toolcell__open+=1 ;; esac
	done <"$__toolcell_tools/log"
	while ((__toolcell__open > 0)); do
		__toolcell_receive
		if [[ $__toolcell_kind == V ]]; then __toolcell__open+=-1; fi
		__toolcell_deliver ''
	done
	: >|"$__toolcell_tools/log"
} 2>/dev/null

__toolcell_settle() { # waits for the calls of jobs, and until these have printed what they got
	[[ $__toolcell_tools ]] || builtin return 0
	local __toolcell__line __toolcell__stat
	local -A __toolcell__open=()
	while builtin read -r __toolcell__line; do
		case $__toolcell__line in Q*) __toolcell__open[${__toolcell__line#Q }]=1 ;; E*) unset "__toolcell__open[${__toolcell__line#E }]" ;; esac
	done <"$__toolcell_tools/log"
	for __toolcell__line in "${!__toolcell__open[@]}"; do
		while builtin kill -0 "${__toolcell__line%-*}"; do
			__toolcell__stat=''
			builtin read -r __toolcell__stat <"/proc/${__toolcell__line%-*}/stat"
			[[ ${__toolcell__stat##*) } == Z* ]] && break
			command -p grep -qx "E $__toolcell__line" "$__toolcell_tools/log" && break
			command -p sleep 0.01
		done
	done
} 2>/dev/null

__toolcell_offer() { # names of functions; holds the locks, which it makes
	if (($# == 0)); then
		if [[ $(declare -f tool) == *__toolcell_call* ]]; then unset -f tool; fi
		builtin return
	fi
	if [[ ! $__toolcell_tools ]]; then
		local __toolcell__dir
		__toolcell__dir=$(command -p mktemp -d) && command -p mkfifo "$__toolcell__dir/read" "$__toolcell__dir/send" || builtin exit 1
		if { builtin eval "true $__toolcell_pipe</dev/null"; } 2>/dev/null; then
			builtin eval "exec $__toolcell_pipe<>\"\$__toolcell__dir/read\" $__toolcell_send_pipe<>\"\$__toolcell__dir/send\""
		else # a program has lowered the limit of open descriptors
			exec {__toolcell_pipe}<>"$__toolcell__dir/read" {__toolcell_send_pipe}<>"$__toolcell__dir/send"
		fi
		# Several may see a lock that is free. From bash 5.2 on, which waits for that in
		# select, those who come too late would be in read, where no time-out reaches
		# them: dd makes the pipes non-blocking. Earlier ones have their read interrupted.
		((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 502)) || command -p dd iflag=nonblock oflag=nonblock count=0 <&"$__toolcell_pipe" >&"$__toolcell_send_pipe" 2>/dev/null
		command -p rm -f -- "$__toolcell__dir/read" "$__toolcell__dir/send"
		[[ $__toolcell__dir == /* ]] || __toolcell__dir=$PWD/$__toolcell__dir
		(umask 077; builtin printf '%s' "$BASHPID-0" | command -p tee "$__toolcell__dir/r" "$__toolcell__dir/s" "$__toolcell__dir/log") >/dev/null
		: >|"$__toolcell__dir/log" >|"$__toolcell__dir/r" >|"$__toolcell__dir/s"
		__toolcell_tools=$__toolcell__dir
	fi
	if [[ ! $(builtin trap -p XFSZ) ]]; then builtin trap : XFSZ; fi # by ulimit -f, which would end this shell
	tool() (
		{ set +eufkvxET; } 2>/dev/null
		__toolcell_call "$@"
	)
}

__toolcell_call() { # name, arguments; prints the result of a function of the host
	__toolcell_split $' \t\n'
	local __toolcell__name=$1 __toolcell__args=$2 __toolcell__id=$BASHPID-$RANDOM$RANDOM
	if (($# == 0 || $# > 2)); then
		builtin printf '%s\n' "usage: tool name '{\"argument\": 1}'" >&2
		builtin exit 2
	fi
	__toolcell_fits || { builtin printf '%s: the arguments have %d bytes; %d are the limit\n' "$__toolcell__name" "$(LC_ALL=C; builtin printf %d "${#__toolcell__args}")" "$((48 << 20))" >&2; builtin exit 1; }
	builtin trap '' HUP INT QUIT PIPE ALRM TERM USR1 USR2 XFSZ # what is under way has to be finished
	umask 077
	__toolcell_lock s || builtin exit 1
	if ! { builtin printf 'Q %s\n' "$__toolcell__id" >>"$__toolcell_tools/log"; } 2>/dev/null; then
		__toolcell_unlock s
		builtin printf '%s: the files of calls cannot be written: the disk may be full, or ulimit -f too low\n' "$__toolcell__name" >&2
		builtin exit 1
	fi
	__toolcell_send Q "$__toolcell_run" "$__toolcell__id" "$__toolcell__name" "$__toolcell__args"
	__toolcell_unlock s
	__toolcell_await "$__toolcell__id"
	builtin trap - HUP INT QUIT PIPE ALRM TERM USR1 USR2 XFSZ
	local __toolcell__status=0
	if [[ $__toolcell_how != ok ]]; then
		# What has ended with its run has the result to tell it.
		[[ $__toolcell_how == ended ]] || builtin printf '%s: %s\n' "$__toolcell__name" "$__toolcell_text" >&2
		__toolcell__status=1
	else
		builtin printf '%s\n' "$__toolcell_text" || __toolcell__status=$?
	fi
	{ builtin printf 'E %s\n' "$__toolcell__id" >>"$__toolcell_tools/log"; } 2>/dev/null
	builtin exit "$__toolcell__status"
}

__toolcell_await() { # id; sets __toolcell_how and __toolcell_text to its answer
	local __toolcell__at=$__toolcell_tools/$1
	while [[ ! -s $__toolcell__at.how ]]; do
		__toolcell_try r 0.05 || continue
		while [[ ! -s $__toolcell__at.how ]]; do
			__toolcell_receive
			__toolcell_deliver "$1" || continue
			__toolcell_how=${__toolcell_fields[1]} __toolcell_text=${__toolcell_fields[2]}
			__toolcell_unlock r
			builtin return
		done
		__toolcell_unlock r
	done
	__toolcell_how=$(<"$__toolcell__at.how") __toolcell_text=$(<"$__toolcell__at.text")
	command -p rm -f -- "$__toolcell__at.how" "$__toolcell__at.text"
}

__toolcell_fits() { # whether the host takes a frame with name and args
	local LC_ALL=C
	((${#__toolcell__name} + ${#__toolcell__args} < 48 << 20))
}

__toolcell_setenv() { # names and values; remembers what was
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

__toolcell_done() { # status, x if a new shell takes over
	__toolcell_unsetenv
	exec </dev/null
	local __toolcell__how=ok __toolcell__run=$__toolcell_run
	__toolcell_run=
	if (($1 != 0)); then __toolcell__how=exit; fi
	if [[ $__toolcell_interrupted ]]; then __toolcell__how=interrupt; fi
	if [[ ! $__toolcell_interrupted ]]; then __toolcell_settle; fi
	__toolcell_interrupted=
	__toolcell_lock s r
	__toolcell_drain
	if [[ $2 ]]; then __toolcell_send X; fi
	__toolcell_send Z "$__toolcell__run" "$__toolcell__how" "$1" '' '' 0 '' ''
	builtin return 0
}


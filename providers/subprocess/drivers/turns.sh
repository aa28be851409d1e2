
# What comes between a context's programs, and how a shell goes from the driver to a
# program and back. A program's options and IFS are put aside meanwhile. Its traps of
# DEBUG, ERR and RETURN are not, which would cost every run: that of DEBUG does nothing
# while __toolcell_mute is 1 (see __toolcell_guarded), the driver runs without set -E and
# -T, so that its functions have none, and outside of functions it has no command that
# fails.
#
# No command can set __toolcell_mute behind a program before a trap of DEBUG sees that
# command. But redirections of a group are made without: a subscript in one is evaluated,
# and gives nothing. Before a program, where the trap may see the command still, the
# arguments of eval do the same.

# The loop of a context, and around it one that begins it again where a program has left
# it. Each goes on only if the body has said so: under set -n no command of it is carried
# out, and the conditions of other loops would be what $? is. With ! the status of a
# program ends nothing under set -e and is no failure to a trap of ERR. Before eval
# without builtin it would also keep the program itself from both.
__toolcell_programs='for ((__toolcell_again=1; __toolcell_again; __toolcell_again=__toolcell_outer, __toolcell_outer=0)); do for ((__toolcell_go=1; __toolcell_go; __toolcell_go=__toolcell_on, __toolcell_on=0)); do __toolcell_ready; { __toolcell_loud "$__toolcell_bash" && : "$__toolcell_bash"; } 2>/dev/null; ! builtin eval "$__toolcell_code${__toolcell_none[__toolcell_mute=0]-}"; { __toolcell_status=${PIPESTATUS[0]} __toolcell_opts=$-; set +eufkvxET; __toolcell_quiet "$__toolcell_opts"; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; __toolcell_done "$__toolcell_status"; __toolcell_on=1; done; { __toolcell_opts=$-; set +eufkvxET; __toolcell_quiet "$__toolcell_opts"; } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; __toolcell_left; __toolcell_outer=1; done; __toolcell_left out'

__toolcell_begin() { # waits for what this shell is for
	if [[ ! $__toolcell_taken ]]; then __toolcell_loop; fi
	if [[ ! $__toolcell_once ]]; then
		__toolcell_program=$__toolcell_programs
	else
		__toolcell_first=0
		__toolcell_ready
		__toolcell_program=$__toolcell_code
	fi
}

__toolcell_ready() { # waits for a program
	__toolcell_loop
	__toolcell_prepare
	__toolcell_unlock r s
	builtin return 0
}

__toolcell_quiet() { # what $- was; keeps the program's options away from the driver
	set +eufkvxET
	__toolcell_opts=${1//[!eufkvxET]/}
	__toolcell_ifs=$IFS
	__toolcell_split $' \t\n'
}

__toolcell_split() { # what IFS is to be; the assignment to one that is readonly would end the driver
	[[ ${IFS@a} == *r* ]] || IFS=$1
}

# The program before has left its $?, which under set -e ends the shell only
# outside of an && list; and $_ is the last argument, as a shell begins with it.
__toolcell_loud() {
	__toolcell_split "$__toolcell_ifs"
	if [[ $__toolcell_opts == *x* ]]; then # which is not to show the call of eval
		__toolcell_code='{ set -x; __toolcell_began "$__toolcell_bash" && __toolcell_none=(); } 2>/dev/null${__toolcell_none[__toolcell_mute=1]-}; '$__toolcell_code
	fi
	__toolcell_options "${__toolcell_opts//x/}"
	builtin return "$__toolcell_status"
}

__toolcell_options() { # those to set
	if [[ $1 ]]; then set "-$1"; fi
}

__toolcell_left() { # a program has left the loop, by break, or has begun it again, by continue
	builtin printf '%s\n' "bash: break and continue are only meaningful in a loop: the program ended there" >&2
	if [[ $1 ]]; then builtin exit 1; fi
	__toolcell_status=1
	__toolcell_done 1
}

__toolcell_keep() { # sets up what a context needs beside
	builtin eval "exec $__toolcell_out>&1 $__toolcell_err>&2"
	builtin trap "$__toolcell_inter" INT
	__toolcell_wrap
}

__toolcell_loop() {
	while ((1)); do
		__toolcell_receive
		case $__toolcell_kind in
		C)
			if [[ ${__toolcell_fields[0]} == once ]]; then __toolcell_once=1; else __toolcell_keep; fi
			__toolcell_setenv "${__toolcell_fields[@]:1}"
			__toolcell_old=()
			__toolcell_send H "bash ${BASH_VERSION%%(*}"
			builtin return 0
			;;
		N)
			__toolcell_offer "${__toolcell_fields[@]}"
			;;
		O)
			__toolcell_aliased=
			builtin shopt -q expand_aliases && __toolcell_aliased=1
			builtin shopt -u expand_aliases # which would change what is read here
			eval "${__toolcell_fields[1]}"
			[[ $__toolcell_aliased ]] && builtin shopt -s expand_aliases
			;;
		R)
			builtin return 0
			;;
		*)
			__toolcell_heed
			;;
		esac
	done
}

__toolcell_plain() { # drops a byte order mark and carriage returns from the code
	local LC_ALL=C # by bytes; and ${code#mark} would take minutes for a megabyte
	if [[ ${__toolcell_code:0:3} == $'\xef\xbb\xbf' ]]; then __toolcell_code=${__toolcell_code:3}; fi
	__toolcell_code=${__toolcell_code//$'\r\n'/$'\n'}
}

# What a program finds in BASH_COMMAND, in a trap of EXIT, and sees of set -x, tells that
# it is evaluated. One that asks for either gets a shell of its own.
__toolcell_anew() {
	[[ $__toolcell_code == *BASH_COMMAND* || $__toolcell_code =~ xtrace|set[[:space:]]+-[A-Za-z]*x ]] || builtin return 0
	if [[ ! ${BASH_ENV-} ]] && ((${#__toolcell_code} < 30000)); then # 128 KiB are the limit of an argument
		exec -a bash "$__toolcell_bash" --norc --noprofile -c "$__toolcell_code" bash
	fi
}

__toolcell_prepare() {
	__toolcell_next=${__toolcell_fields[0]}
	__toolcell_leaving='' __toolcell_flags=''
	__toolcell_code=${__toolcell_fields[1]}
	__toolcell_plain
	if [[ ${__toolcell_fields[2]} ]]; then
		exec <"${__toolcell_fields[2]}"
		command -p rm -f -- "${__toolcell_fields[2]}"
	else
		exec 0>>/dev/null # of which reading fails
	fi
	__toolcell_setenv "${__toolcell_fields[@]:3}"
	__toolcell_fields=()
	if [[ $__toolcell_once ]]; then
		__toolcell_run=$__toolcell_next
		if [[ ! $__toolcell_tools ]]; then
			builtin eval "exec $__toolcell_ctl<&-"
			__toolcell_anew
		else
			__toolcell_wrap
			__toolcell_absorb
			__toolcell_watches
		fi
		builtin return
	fi
	__toolcell_ending=''
	local __toolcell__traps
	__toolcell__traps=$(builtin trap -p EXIT INT)
	[[ $__toolcell__traps == *__toolcell_exit* ]] || __toolcell_absorb
	[[ $__toolcell__traps == *' INT' || $__toolcell__traps == *' SIGINT' ]] || builtin trap "$__toolcell_inter" INT
	__toolcell_watches
	__toolcell_run=$__toolcell_next
	while builtin read -r -t 0 -u "$__toolcell_ctl"; do # also of the run before
		__toolcell_run=
		__toolcell_receive
		__toolcell_heed
		__toolcell_run=$__toolcell_next
	done
	if [[ $__toolcell_off == "$__toolcell_next" ]]; then # the run was called off
		__toolcell_run=
		while [[ $__toolcell_sent != "$__toolcell_next" ]]; do # its signal comes before this frame
			__toolcell_receive
			__toolcell_heed
		done
		__toolcell_run=$__toolcell_next
		__toolcell_interrupted=1
		__toolcell_ending=unbegun
		builtin exit 130
	fi
}


__toolcell_boot=$BASH_EXECUTION_STRING __toolcell_driver=$1
__toolcell_bash=$BASH
__toolcell_pid=$BASHPID
__toolcell_ctl=230 __toolcell_pipe=229 __toolcell_send_pipe=228 __toolcell_out=227 __toolcell_err=226
__toolcell_tools=
__toolcell_run='' __toolcell_next='' __toolcell_off='' __toolcell_sent='' __toolcell_status=0 __toolcell_once='' __toolcell_interrupted='' __toolcell_leaving='' __toolcell_opts='' __toolcell_ifs=$' \t\n'
__toolcell_fields=() __toolcell_old=()
__toolcell_none=() __toolcell_mute=1 __toolcell_first=1 __toolcell_flags='' __toolcell_instead='' __toolcell_taken='' __toolcell_program='' __toolcell_again=1 __toolcell_outer=0 __toolcell_go=1 __toolcell_on=0
__toolcell_trap='' __toolcell_set='' __toolcell_apart='' __toolcell_ending='' __toolcell_last='' __toolcell_command=''
declare -A __toolcell_kept=()
if (($# > 1)); then
	builtin trap "$__toolcell_inter" INT
	__toolcell_taken=1
	eval "$(builtin trap '' INT; command -p cat <&"$3")"
	builtin eval "exec $3<&-"
	{ __toolcell_quiet "$2"; } 2>/dev/null
	__toolcell_send H "bash ${BASH_VERSION%%(*}"
else
	{ true 230<&3; } 2>/dev/null || __toolcell_lower
	builtin eval "exec $__toolcell_ctl<&3 3<&-"
fi
set --

builtin eval "$1"; __toolcell_begin; : "$__toolcell_bash"; builtin eval "$__toolcell_program${__toolcell_none[__toolcell_mute=__toolcell_first]-}"

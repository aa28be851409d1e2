// Package shellboot is how a shell is given a command that is not to be seen in
// its arguments, and may be longer than those can be.
package shellboot

// Script is what a shell runs in place of the command: its arguments, after -c and
// this, are a name for $0 and the directory to go to, empty for none. It reads the
// command from descriptor 3, once the limits are in force. A command that cannot be
// read whole does not run: without its end, the x, it has failed. It is one line, so
// that the shell counts those of the command from 1.
const Script = `if [ -n "$1" ]; then cd -- "$1" || exit 126; fi; shift; ` +
	`__toolcell=$(command -p cat <&3 && echo x) || exit 126; ` +
	`eval "unset -v __toolcell; ${__toolcell%x}" 3<&-`

// Shells are what commands are run by, the first that is there.
func Shells() []string { return []string{"/bin/bash", "/usr/bin/bash", "/bin/sh"} }

package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// bash returns the programs for bash 4 and later with the usual coreutils.
// Bash has no values, displays, modules or exceptions.
func bash() Programs {
	return Programs{
		Print:    func(s string) string { return "printf '%b' '" + octal(s) + "'" },
		PrintErr: func(s string) string { return "printf '%b' '" + octal(s) + "' >&2" },
		Pause:    func(d time.Duration) string { return fmt.Sprintf("sleep %g", d.Seconds()) },
		Comment:  "# nothing",

		Spin:     "while :; do :; done",
		Stubborn: lines("trap '' INT TERM HUP", "while :; do sleep 1; done"),
		Flood:    "while :; do echo tick; done",

		Exit:        func(code int) string { return fmt.Sprintf("exit %d", code) },
		SyntaxError: "if then fi )",

		Repeat: func(stream codeinterp.Kind, s string, n int) string {
			return fmt.Sprintf("for ((i = 0; i < %d; i++)); do printf '%%b' '%s'; done >&%d", n, octal(s), stream)
		},
		Lines: func(n int) string { return fmt.Sprintf("seq -f %%07.0f 0 %d", n-1) },
		Bytes: "printf '%b' '" + octal(allBytes()) + "'",

		Set:     func(name, value string) string { return fmt.Sprintf("%s=$(printf '%%b' '%s')", name, octal(value)) },
		Get:     func(name string) string { return fmt.Sprintf(`printf '%%s\n' "$%s"`, name) },
		Partial: func(start string) string { return "echo ü $" + start },
		Has:     func(name string) string { return fmt.Sprintf("[[ -v %s ]] && echo yes || echo no", name) },

		ReadAll:  `text=$(cat) && printf '[%s]\n' "$text"`,
		ReadLine: lines("IFS= read -r line || exit 3", `printf '[%s]\n' "$line"`),
		GetEnv:   func(name string) string { return fmt.Sprintf(`echo "${%s-<unset>}"`, name) },
		Getwd:    "pwd",

		WriteFile: func(path, text string) string { return fmt.Sprintf("printf '%%b' '%s' > %s", octal(text), path) },
		ReadFile:  func(path string) string { return "cat " + path },
		AppendForever: func(path string) string {
			return fmt.Sprintf("while :; do printf . >> %s; sleep 0.01; done", path)
		},

		Connect: func(port int) string { return fmt.Sprintf("(exec 3<>/dev/tcp/127.0.0.1/%d)", port) },
		Kill:    func(pid int) string { return fmt.Sprintf("kill -9 %d", pid) },

		KillSelf: lines("kill -9 $BASHPID", "sleep 60"),
		Child:    func(seconds string) string { return "sleep " + seconds + " &" },
		Late: func(text string, after time.Duration) string {
			return fmt.Sprintf("{ sleep %g; printf '%%b' '%s'; } &", after.Seconds(), octal(text))
		},
	}
}

// octal escapes every byte for printf's %b.
func octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\0%03o`, s[i])
	}
	return b.String()
}

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

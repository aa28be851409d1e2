//go:build unix && real

package awk_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/conformance"
)

// programs are what the suite needs to know of awk. What awk has no notion of,
// such as values and modules, stays empty.
func programs() conformance.Programs {
	return conformance.Programs{
		Print:    func(s string) string { return begin(printf(s, "")) + "\nBEGIN { fflush() }" },
		PrintErr: func(s string) string { return begin(printf(s, ` > "/dev/stderr"`)) },
		Pause:    func(d time.Duration) string { return begin(`system("sleep %g")`, d.Seconds()) },
		Comment:  "# nothing",

		Spin:        begin("while (1) ;"),
		Stubborn:    begin(`system("trap '' INT TERM HUP; while :; do sleep 1; done")`),
		Flood:       begin(`while (1) print "tick"`),
		Exit:        func(code int) string { return begin("exit %d", code) },
		SyntaxError: "BEGIN { if ( }",

		Lines: func(n int) string { return begin(`for (i = 0; i < %d; i++) printf("%%07d\n", i)`, n) },

		// The state is the directory, so a variable is a file in it.
		Set: func(name, value string) string { return begin(`printf "%%s", %q > %q; close(%[2]q)`, value, name) },
		Get: func(name string) string { return begin(`getline v < %q; close(%[1]q); print v; fflush()`, name) },
		Has: func(name string) string {
			return begin(`print ((getline v < %q) >= 0 ? "yes" : "no"); close(%[1]q); fflush()`, name)
		},

		ReadAll:  begin(`if (system("t=$(cat) && printf '[%s]\\n' \"$t\"")) exit 3`),
		ReadLine: begin(`if ((getline line) <= 0) exit 3; print "[" line "]"`),
		GetEnv: func(name string) string {
			return begin(`print (%q in ENVIRON ? ENVIRON[%[1]q] : "<unset>"); fflush()`, name)
		},
		Getwd: begin(`system("pwd")`),

		WriteFile: func(path, text string) string { return begin(`printf "%%s", %q > %q`, text, path) },
		ReadFile:  func(path string) string { return begin(`system("cat %s")`, path) },
		AppendForever: func(path string) string {
			return begin(`while (1) { printf(".") >> %q; close(%[1]q); system("sleep 0.01") }`, path)
		},
		KillSelf: begin(`system("kill -9 $PPID; sleep 60")`),
		Child:    func(seconds string) string { return begin(`system("sleep %s &")`, seconds) },
	}
}

func begin(format string, args ...any) string {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	return "BEGIN { " + format + " }"
}

// printf returns statements that print s, in strings that are not too long for
// any awk. A string holds no NUL.
func printf(s, to string) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(s), 100) {
		b.WriteString(`printf "`)
		var args string
		for _, c := range part {
			switch {
			case c == 0:
				b.WriteString("%c")
				args += ", 0"
			case c == '%':
				b.WriteString("%%")
			case c < ' ', c > '~', c == '"', c == '\\':
				fmt.Fprintf(&b, `\%03o`, c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteString(`"` + args + to + "; ")
	}
	return b.String()
}

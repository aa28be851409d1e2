package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func toyPrograms() Programs {
	cmd := func(name string) func(string) string {
		return func(arg string) string { return fmt.Sprintf("%s %q", name, arg) }
	}
	count := func(name string) func(int) string {
		return func(n int) string { return fmt.Sprintf("%s %q", name, fmt.Sprint(n)) }
	}
	two := func(name string) func(a, b string) string {
		return func(a, b string) string { return fmt.Sprintf("%s %q %q", name, a, b) }
	}
	return Programs{
		Print: cmd("print"), PrintErr: cmd("eprint"),
		Pause:   func(d time.Duration) string { return fmt.Sprintf("pause %q", d) },
		Comment: "# nothing",
		Spin:    "spin", Stubborn: "stubborn", Flood: "flood", Recurse: "recurse",
		HardExit: count("hardexit"),
		Exit:     count("exit"), Fail: cmd("fail"), FailName: "ToyError", FailLong: count("faillong"), SyntaxError: "!!", MissingModule: cmd("import"),
		Repeat: func(stream codeinterp.Kind, text string, n int) string {
			name := map[codeinterp.Kind]string{codeinterp.Stdout: "print", codeinterp.Stderr: "eprint"}[stream]
			return cmd(name)(strings.Repeat(text, n))
		},
		Show: func(bundle []codeinterp.Representation) string {
			code := "show"
			for _, rep := range bundle {
				code += fmt.Sprintf(" %q %q", rep.MIME, rep.Data)
			}
			return code
		},
		Lines: count("lines"), Bytes: fmt.Sprintf("print %q", allBytes()),
		Set: two("set"), Get: cmd("get"), Has: cmd("has"), Partial: func(s string) string { return "get ü" + s },
		Values: []Expression{
			{`value "2" "2"`, "2", "2"},
			{`value "\"\"" "''"`, `""`, "''"},
			{`value "" "nan"`, "", "nan"},
			{`value "{\"b\":1,\"a\":18446744073709551617}" "o"`, `{"b":1,"a":18446744073709551617}`, "o"},
		},
		Text:          func(s string) string { return fmt.Sprintf("value %q %q", literal(s), s) },
		Strict:        []Raise{{`fail "strict"`, "ToyError", "strict"}},
		Raises:        []Raise{{`fail "text"`, "ToyError", "text"}},
		Awaited:       func(text string, after time.Duration) string { return fmt.Sprintf("awaited %q %q", text, after) },
		Unending:      cmd("unending"),
		Number:        func(n int) string { return fmt.Sprintf("value \"%d\" \"%d\"", n, n) },
		NoValue:       []string{`set "x" "1"`, "# nothing", ""},
		DisplayUpdate: lines(`show "text/plain" "one"`, `update "text/plain" "two"`),
		ReadAll:       "readall", ReadLine: "readline", GetEnv: cmd("getenv"), Getwd: "getwd",
		WriteFile: two("write"), ReadFile: cmd("read"), AppendForever: cmd("append"),

		Call: two("call"), CallCaught: two("callcaught"),
		CallLeft: two("callleft"), CallWake: "callwake",
		CallLoop: func(name string, n int) string { return fmt.Sprintf("callloop %q %q", name, fmt.Sprint(n)) },
		Connect:  func(port int) string { return count("connect")(port) }, Kill: func(pid int) string { return count("kill")(pid) },
		Yielding: "yield",
		KillSelf: "killself", Child: cmd("child"),
		Late: func(text string, after time.Duration) string { return fmt.Sprintf("late %q %q", text, after) },
	}
}

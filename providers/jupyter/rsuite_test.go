//go:build linux && real && full

package jupyter_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/conformance"
)

// irkernel is where the distribution installs the kernelspec.
const irkernel = "/usr/share/jupyter/kernels/ir/kernel.json"

// rConfig is the suite with programs in R.
func rConfig() conformance.Config {
	return conformance.Config{
		Languages: []string{"r"},
		Programs:  map[string]conformance.Programs{"r": rPrograms()},
		Timeout:   10 * time.Minute,
		Lacks: []conformance.Feature{conformance.Values, conformance.BinaryOutput, conformance.FullOutput, conformance.Stdin, conformance.Env,
			conformance.Cwd, conformance.PrivateFiles, conformance.Children, conformance.ErrorLine, conformance.MissingModule},
	}
}

// rPrograms are the suite's programs in R. What a top-level expression prints
// comes when that has ended, so that there is no Flood, and texts have no NUL.
func rPrograms() conformance.Programs {
	q := rLiteral
	return conformance.Programs{
		Print:    func(s string) string { return "cat(" + q(s) + ")" },
		PrintErr: func(s string) string { return rErr(q(s)) },
		Pause:    func(d time.Duration) string { return fmt.Sprintf("Sys.sleep(%g)", d.Seconds()) },
		Comment:  "# nothing",

		Spin:     "while (TRUE) {}",
		Yielding: "invisible(tryCatch(Sys.sleep(3600), interrupt = function(e) NULL))",
		Stubborn: "while (TRUE) tryCatch(Sys.sleep(1), interrupt = function(e) NULL)",

		Fail:        func(s string) string { return "stop(" + q(s) + ", call. = FALSE)" },
		FailName:    "Error",
		SyntaxError: "if then (",

		Repeat:    func(s string, n int) string { return fmt.Sprintf("cat(strrep(%s, %d))", q(s), n) },
		RepeatErr: func(s string, n int) string { return rErr(fmt.Sprintf("strrep(%s, %d)", q(s), n)) },
		Lines:     func(n int) string { return fmt.Sprintf(`cat(sprintf("%%07d\n", 0:%d), sep = "")`, n-1) },

		Set: func(name, value string) string { return name + " <- " + q(value) },
		Get: func(name string) string { return fmt.Sprintf(`cat(%s, "\n", sep = "")`, name) },
		Has: func(name string) string { return fmt.Sprintf(`cat(if (exists(%q)) "yes\n" else "no\n")`, name) },

		DisplayBundle: `IRdisplay::publish_mimebundle(list("text/plain" = "plain", "text/html" = "<b>rich</b>", "image/png" = ` + rRaw(conformance.PNG()) + `))`,

		GetEnv: func(name string) string { return fmt.Sprintf(`cat(Sys.getenv(%q, "<unset>"), "\n", sep = "")`, name) },
		Getwd:  `cat(getwd(), "\n", sep = "")`,

		WriteFile: func(path, text string) string { return fmt.Sprintf("cat(%s, file = %s)", q(text), q(path)) },
		ReadFile:  func(path string) string { return fmt.Sprintf("cat(readChar(%[1]s, file.size(%[1]s)))", q(path)) },
		AppendForever: func(path string) string {
			return fmt.Sprintf(`repeat { cat(".", file = %s, append = TRUE); Sys.sleep(0.01) }`, q(path))
		},

		Connect: func(port int) string {
			return fmt.Sprintf(`close(socketConnection("127.0.0.1", %d, timeout = 5))`, port)
		},
		Kill:     func(pid int) string { return fmt.Sprintf("invisible(tools::pskill(%d, 9))", pid) },
		KillSelf: "invisible(tools::pskill(Sys.getpid(), 9)); Sys.sleep(60)",
	}
}

// rLiteral quotes text, with all that is not ASCII escaped: R refuses some of it.
func rLiteral(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, "\\%c", r)
		case r < ' ' || r >= 0x7f:
			fmt.Fprintf(&b, "\\U{%x}", r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// rErr prints text to standard error as IRkernel does with messages, which it
// ends with a line end of its own.
func rErr(text string) string {
	return `local({ f <- Find(function(f) exists("request", f, inherits = FALSE) && exists("stream", f), sys.frames()); get("stream", f)(` + text + `, "stderr") })`
}

// rRaw writes bytes as R does.
func rRaw(data []byte) string {
	var list []string
	for _, b := range data {
		list = append(list, fmt.Sprint(b))
	}
	return "as.raw(c(" + strings.Join(list, ", ") + "))"
}

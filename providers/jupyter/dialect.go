package jupyter

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A dialect is what has to be said to a kernel in its own language, by hidden
// requests that leave no trace in its namespace and history.
type dialect struct {
	// setup is run in each new process. raw tells that streams may carry bytes
	// that are no UTF-8, spill that large output is to be spooled.
	setup func(raw, spill bool) string
	// start sets a context's directory and environment, once per process.
	start func(s surroundings) string
	// remove deletes a context's private directory.
	remove func(dir string) string
	// clear deletes the directory of a private run.
	clear string
	// enter sets a run's environment and standard input, leave restores them.
	enter func(s surroundings) string
	leave string
	// idle is an expression that is true where nothing of the program runs on.
	idle string
	// spool is an expression that gives the next piece of spooled output.
	spool string
	// noStdin: enter cannot give standard input.
	noStdin bool
	// replaced recognises that the kernel put a new process in place of the one
	// that the program ended, by what it prints then.
	replaced func(text []byte) bool
	// settle prints a marker to the streams, for kernels whose output comes
	// after they said that they are idle.
	settle func(marker string) string
	// skipsBlank: lines are counted from the first that is not blank.
	skipsBlank bool
	// exit tells an exit from an error.
	exit func(*codeinterp.ProgramError) (int, bool)
	// value derives a result's JSON form from its representations.
	value func(*codeinterp.Output) json.RawMessage
}

// surroundings are what a program finds outside of its own code.
type surroundings struct {
	cwd   string
	env   map[string]string
	stdin []byte // nil: reading fails
	// private starts the run in a new directory, which goes with the kernel.
	private bool
	// dir names a context's private directory, which outlives its kernels.
	dir string
}

func (d *dialect) prepare(raw, spill bool) string {
	if d.setup == nil {
		return ""
	}
	return d.setup(raw, spill)
}

// dialectOf chooses by language, and, where several kernels share one, by what
// the kernelspec starts.
func dialectOf(language string, s spec) *dialect {
	argv := strings.Join(s.Argv, " ")
	switch {
	case s.Language == "python" || language == "python":
		return &pythonDialect
	case strings.Contains(argv, "deno"):
		return &denoDialect
	case language == "bash":
		return &bashDialect
	}
	return &plainDialect
}

// plainDialect is for kernels that we know nothing of.
var plainDialect = dialect{value: jsonValue}

// jsonValue takes the JSON representation as the value, where there is one.
func jsonValue(o *codeinterp.Output) json.RawMessage {
	if rep, ok := o.Richest("application/json"); ok && json.Valid(rep.Data) {
		return rep.Data
	}
	return nil
}

//go:embed setup.py
var pythonSetup string

var pythonDialect = dialect{
	setup: func(raw, spill bool) string {
		return pythonExec(pythonSetup, map[string]any{"raw": raw, "spill": spill})
	},
	start:      func(s surroundings) string { return pythonCall("start", s) },
	enter:      func(s surroundings) string { return pythonCall("enter", s) },
	leave:      pythonHelper + ".leave()",
	clear:      pythonHelper + ".clear()",
	remove:     func(dir string) string { return fmt.Sprintf("%s.remove(%q)", pythonHelper, dir) },
	idle:       pythonHelper + ".idle()",
	skipsBlank: true,
	spool:      pythonHelper + ".spool.take()",
	exit:       pythonExit,
}

// pythonHelper is where setup.py keeps itself, out of the user's namespace.
const pythonHelper = `__import__("IPython").get_ipython()._toolcell`

// pythonExec runs source with no name of its own in the user's namespace.
func pythonExec(source string, vars map[string]any) string {
	b, _ := json.Marshal(vars)
	return fmt.Sprintf(`__import__("builtins").exec(__import__("base64").b64decode(%q).decode(), {"options": __import__("json").loads(%q)})`,
		base64.StdEncoding.EncodeToString([]byte(source)), b)
}

func pythonCall(method string, s surroundings) string {
	return fmt.Sprintf(`%s.%s(__import__("json").loads(%s))`, pythonHelper, method, strconv.QuoteToASCII(arguments(s)))
}

// arguments encodes surroundings as JSON in ASCII, with every text in base64.
func arguments(s surroundings) string {
	env := map[string]string{}
	for k, v := range s.env {
		env[b64(k)] = b64(v)
	}
	args := map[string]any{"env": env, "cwd": b64(s.cwd), "stdin": nil, "private": s.private, "dir": s.dir}
	if s.stdin != nil {
		args["stdin"] = b64(string(s.stdin))
	}
	b, _ := json.Marshal(args)
	return string(b)
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

//go:embed setup.js
var denoSetup string

// denoDialect is for Deno's kernel, in JavaScript and TypeScript. It sends a
// value after it said that it is idle, it cannot be interrupted, and it reads
// no standard input.
var denoDialect = dialect{
	setup:   func(bool, bool) string { return denoSetup },
	start:   func(s surroundings) string { return denoCall("start", s) },
	enter:   func(s surroundings) string { return denoCall("enter", s) },
	leave:   denoHelper + ".leave()",
	clear:   denoHelper + ".clear()",
	remove:  func(dir string) string { return fmt.Sprintf("%s.remove(%q)", denoHelper, dir) },
	noStdin: true,
	settle:  func(marker string) string { return fmt.Sprintf("void %s.print(%q, false)", denoHelper, marker) },
	exit: func(e *codeinterp.ProgramError) (int, bool) {
		n, err := strconv.Atoi(e.Message)
		return n & 0xff, e.Name == "ProcessExit" && err == nil
	},
}

const denoHelper = "Deno[Deno.internal].toolcell"

func denoCall(method string, s surroundings) string {
	return fmt.Sprintf("%s.%s(%s)", denoHelper, method, arguments(s))
}

// bashDialect is for bash_kernel. Its env and cwd are those of the shell, which
// it replaces where the program exits.
var bashDialect = dialect{
	replaced: regexp.MustCompile(`(^|\n)exit\r?\nRestarting Bash\s*$`).Match,
	start:    bashSurroundings,
	remove:   func(dir string) string { return "cd / && rm -rf -- " + bashTemp(dir) },
	exit: func(e *codeinterp.ProgramError) (int, bool) {
		n, err := strconv.Atoi(e.Message)
		return n, e.Name == "" && err == nil && n != 0
	},
}

func bashSurroundings(s surroundings) string {
	var b strings.Builder
	switch {
	case s.dir != "":
		fmt.Fprintf(&b, "mkdir -p -m 700 -- %[1]s && cd -- %[1]s && ", bashTemp(s.dir))
	case s.cwd != "":
		fmt.Fprintf(&b, "cd -- %s && ", bashQuote(s.cwd))
	}
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		fmt.Fprintf(&b, "export %s=%s && ", name, bashQuote(s.env[name]))
	}
	return b.String() + "true"
}

func bashTemp(dir string) string { return `"${TMPDIR:-/tmp}"/` + bashQuote(dir) }

func bashQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

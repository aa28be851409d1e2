package kernel

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pytools"
	"github.com/toolcell/toolcell/internal/pyvalue"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

//go:embed streams.py
var pythonStreams string

//go:embed calls.py
var pythonCalls string

//go:embed files.py
var pythonFiles string

//go:embed errors.py
var pythonErrors string

//go:embed input.py
var pythonInput string

//go:embed setup.py
var pythonSetup string

var pythonDialect = dialect{
	setup: func(raw bool) string {
		return pythonExec(strings.Join([]string{pyvalue.Source, pytools.Source, pytools.Contexts, pythonStreams, pythonCalls, pythonFiles,
			pythonErrors, pythonInput, pythonSetup}, "\n\n"), map[string]any{"raw": raw})
	},
	offer: func(args map[string]any) string {
		b, _ := json.Marshal(args)
		return pythonCall("offer", string(b))
	},
	start:      func(s Surroundings) string { return pythonCall("start", arguments(s)) },
	enter:      func(s Surroundings) string { return pythonCall("enter", arguments(s)) },
	leave:      pythonHelper + ".leave()",
	finish:     func(dir string) string { return fmt.Sprintf("%s.finish(%q)", pythonHelper, dir) },
	outcome:    func(id string) string { return fmt.Sprintf("%s.outcome(%q)", pythonHelper, id) },
	files:      true,
	completes:  true,
	aborts:     true, // ipykernel before 7
	skipsBlank: true,
	unprepared: pythonUnprepared,
	exit:       pythonExit,
}

// pythonHelper is where setup.py keeps itself, out of the user's namespace.
const pythonHelper = `__import__("IPython").get_ipython()._toolcell`

// pythonExec runs source with no name of its own in the user's namespace.
func pythonExec(source string, vars map[string]any) string {
	b, _ := json.Marshal(vars)
	return fmt.Sprintf(`__import__("builtins").exec(__import__("builtins").compile(__import__("base64").b64decode(%q).decode(), %q, "exec", 0, True), {"options": __import__("json").loads(%q)})`,
		base64.StdEncoding.EncodeToString([]byte(source)), "<toolcell>", b)
}

func pythonCall(method, args string) string {
	return fmt.Sprintf(`%s.%s(__import__("json").loads(%s))`, pythonHelper, method, strconv.QuoteToASCII(args))
}

// pythonUnprepared recognises the answer of a process that was not set up.
func pythonUnprepared(e *wire.ErrorContent) bool {
	return e.Name == "AttributeError" && strings.Contains(e.Value, "'_toolcell'")
}

// pythonExit reads the exit code of a SystemExit. Kernels that were set up report
// the number alone; a message remains an error.
func pythonExit(e *codeinterp.ProgramError) (int, bool) {
	if e.Name != "SystemExit" {
		return 1, false
	}
	switch e.Message {
	case "", "None", "False":
		return 0, true
	case "True":
		return 1, true
	}
	n, err := strconv.Atoi(e.Message)
	// A process keeps the low eight bits of its exit code.
	return n & 0xff, err == nil
}

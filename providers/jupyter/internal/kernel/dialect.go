package kernel

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// A dialect is the code of our hidden requests in a kernel's language, which leave no
// trace in its namespace and history.
type dialect struct {
	// setup is run in each new process. With raw, streams may carry bytes
	// that are no UTF-8.
	setup func(raw bool) string
	// start sets a context's directory and environment, once per process.
	start func(s Surroundings) string
	// enter sets a run's environment and standard input, leave restores them.
	enter func(s Surroundings) string
	leave string
	// offer makes functions of the host known; nil if programs cannot call.
	offer func(args map[string]any) string
	// files: setup serves the requests of Files.
	files bool
	// finish is an expression that removes a private directory, and is true if nothing of
	// the program runs on.
	finish func(dir string) string
	// outcome is an expression for how the program of a request ended: an execute_reply
	// in base64, empty if unknown.
	outcome func(id string) string
	// unprepared recognises that a hidden request failed for want of setup.
	unprepared func(*wire.ErrorContent) bool
	// aborts: the kernel may know abort_request, which drops a request from its queue.
	aborts bool
	// completes: the kernel is known to complete code.
	completes bool
	// skipsBlank: lines are counted from the first that is not blank.
	skipsBlank bool
	// exit returns the exit code if the error is an exit.
	exit func(*codeinterp.ProgramError) (int, bool)
	// value derives a result's JSON form from its representations.
	value func(*codeinterp.Output) json.RawMessage
}

// A Kind is a kernelspec that serves a language.
type Kind struct {
	Language string
	Name     string // of the kernelspec
	server.Spec
	dialect *dialect
}

// NewKind returns the kind of a kernelspec.
func NewKind(language, name string, s server.Spec) Kind {
	return Kind{Language: language, Name: name, Spec: s, dialect: dialectOf(language, s)}
}

// Visited is the kind of a kernel that somebody else works in: it is left as it
// is, and only what it says is understood as that of its language.
func (k Kind) Visited() Kind {
	d := dialect{exit: k.dialect.exit, skipsBlank: k.dialect.skipsBlank, value: k.dialect.value, aborts: k.dialect.aborts}
	if d.value == nil {
		d.value = jsonValue
	}
	k.dialect = &d
	return k
}

// dialectOf chooses by language, and, where several kernels share one, by what
// the kernelspec starts.
func dialectOf(language string, s server.Spec) *dialect {
	argv := strings.Join(s.Argv, " ")
	switch {
	case s.Language == "python" || language == "python":
		return &pythonDialect
	case s.Language == "R":
		return &rDialect
	case language == "bash" && strings.Contains(argv, "bash_kernel"):
		return &bashDialect
	}
	return &plainDialect
}

// plainDialect is for kernels that we know nothing of.
var plainDialect = dialect{value: jsonValue}

// rDialect is for IRkernel.
var rDialect = dialect{value: jsonValue, completes: true}

// bashDialect is for bash_kernel, whose errors are exit codes.
var bashDialect = dialect{completes: true, exit: func(e *codeinterp.ProgramError) (int, bool) {
	n, err := strconv.Atoi(e.Message)
	return n, e.Name == "" && err == nil && n != 0
}}

// jsonValue takes the JSON representation as the value, where there is one.
func jsonValue(o *codeinterp.Output) json.RawMessage {
	if rep, ok := o.Richest("application/json"); ok && json.Valid(rep.Data) {
		return rep.Data
	}
	return nil
}

// arguments encodes Surroundings as JSON, with what may be any bytes in base64.
func arguments(s Surroundings) string {
	env := [][2][]byte{}
	for name, value := range s.Env {
		env = append(env, [2][]byte{[]byte(name), []byte(value)})
	}
	b, _ := json.Marshal(map[string]any{"env": env, "cwd": []byte(s.Cwd), "stdin": s.Stdin, "dir": s.Dir, "once": s.Once})
	return string(b)
}

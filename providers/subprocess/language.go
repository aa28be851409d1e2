package subprocess

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/pydriver"
	"github.com/toolcell/toolcell/internal/pytools"
	"github.com/toolcell/toolcell/internal/pyvalue"
)

// ErrNoInterpreter is the error of New where no interpreter of a language can be
// found that works. It is codeinterp.ErrUnavailable too.
var ErrNoInterpreter = fmt.Errorf("%w: no interpreter", codeinterp.ErrUnavailable)

// A Language describes how programs of one language are run: which interpreter
// to look for, and how to start it. [Python], [JavaScript], [TypeScript] and
// [Bash] return the built-in ones, whose fields may be changed; others need
// only Name, Commands and Args.
type Language struct {
	// Name is the canonical name, in lower case.
	Name string

	// Aliases are other names that are accepted, besides the usual ones of
	// codeinterp.ResolveLanguage.
	Aliases []string

	// Commands are the interpreters to try, in order: names that are looked
	// up in an active Python environment, on PATH and in the usual directories,
	// or absolute paths. The first
	// that runs, is new enough and can be reached from inside the isolation
	// is taken.
	Commands []string

	// Args are the interpreter's arguments for a one-shot run. FileArg in
	// them stands for the path of the file that holds the code.
	Args []string

	// Extension is that file's, such as ".rb".
	Extension string

	// VersionArgs make the interpreter print its version; nil means
	// --version.
	VersionArgs []string

	// MinVersion is the oldest version that will do, such as "3.9"; empty
	// means any.
	MinVersion string

	// Install says how to get the interpreter; it ends the message of
	// ErrUnavailable.
	Install string

	// Notes describes the language for a model: what there is, what is not.
	Notes string

	// Env is added to the environment of the language's processes.
	Env map[string]string

	// Driver, if set, runs programs by the driver protocol; only such a
	// language has values, displays and contexts, which LanguageInfo.Contexts
	// tells. See [Driver].
	Driver *Driver

	kind        kind
	environment *environments.Environment // its Node.js packages; nil if there is none
}

// FileArg stands for the file with the code in [Language].Args.
const FileArg = "{file}"

// A Driver is a program for the interpreter that runs programs of its language
// one after the other, and speaks frames over descriptor 3, a stream socket.
// A frame is the length of the rest as 8 hexadecimal digits, a type byte, and
// fields, each of them a length and its bytes.
//
// The host sends
//
//	C  "once" or "", names and values of the environment: answer H
//	R  seq, code, path of standard input or "", names and values: run the
//	   code, in "once" mode the only one
//	N  names of the functions of the host that programs can call from now on
//	V  id, "ok" and the result as JSON, or "error" and a message: the answer
//	   to a call, in any order; to be ignored if no call waits for it
//	A  number: the show with the number is in its place
//	I  seq: end the run, as for SIGINT, which follows, now or in a moment
//	K  seq: that SIGINT was sent
//	O  number, Completer, code, cursor: answer B, between two runs
//
// and the driver
//
//	H  the runtime's version
//	D  seq, number, "display", "update", "result", "clear" or "clear wait",
//	   display id, metadata and value as JSON or "", then MIME types and
//	   their data: wait for A, unless the number is 0, which a result's is
//	   and that of what is shown between runs
//	Q  seq, id, name, arguments as JSON: a call of a function, which V answers
//	L  "stdout" or "stderr", bytes, number or nothing: output of an earlier run's
//	   threads; with a number wait for A
//	T  seq, "display" or "result", bytes: what was too large to send
//	B  number, start, end, matches one a line: what could stand between start
//	   and end of the code that O brought; all in bytes
//	Z  seq, "ok", "error", "exit", "interrupt", or "gone" if the process exits
//	   with the program, which may have an error, exit code, and the error's name, message, line,
//	   missing module and traceback, or "": the end
//
// Before Z and D all output must be written. Standard output and error belong
// to the program, descriptor 0 is /dev/null or, for one run, the file that R
// names, to be removed once it is open. In "once" mode a driver may also just
// exit.
type Driver struct {
	// Args are the interpreter's arguments. DriverArg in them stands for
	// Source.
	Args []string

	// Source is the driver itself.
	Source string

	// Interrupts tells that the driver acts on I while its program waits, so
	// that SIGINT is sent 50 milliseconds later and only if it has to be.
	Interrupts bool

	// Functions tells that the driver knows N and V, and offers its programs
	// the functions of the host.
	Functions bool

	// Input tells that the driver opens a run's standard input once, before the
	// program begins, and then removes it: for RunOptions.Input it is a FIFO.
	Input bool

	// Completer, if it is not empty, tells that the driver knows O, and comes
	// with it: source that a driver need not have from its start.
	Completer string
}

// DriverArg stands for the driver's source in [Driver].Args.
const DriverArg = "{driver}"

// A kind is what the provider knows about a built-in language beyond its
// table entry.
type kind int

const (
	otherKind kind = iota
	pythonKind
	nodeKind
	typescriptKind
	bashKind
)

//go:embed drivers
var drivers embed.FS

// sourceOf returns the files of a folder of drivers, one after the other.
func sourceOf(folder string, files ...string) string {
	var b strings.Builder
	for _, name := range files {
		source, err := drivers.ReadFile("drivers/" + folder + name)
		if err != nil {
			panic(err)
		}
		b.Write(source)
	}
	return b.String()
}

// pythonBoot reads the compiled driver from descriptor 3 and becomes it. What few programs
// need stays bytes until one does: it would take a twentieth of a single run's time.
const pythonBoot = `import os,marshal,builtins
n=int(os.read(3,8),16)
b=b''
while len(b)<n:b+=os.read(3,n-len(b))
b,p=marshal.loads(b)
exec(b,{'__name__':'toolcell','__builtins__':dict(vars(builtins)),'parts':p})`

// pythonNow are the driver's functions that are loaded at the start: those that most
// programs need, those that programs see, and those that are called by a fork.
const pythonNow = `load loaded_on_use prepare open_streams stream stdin_of expect obtain receive_all receive identity some filled
	fields_of distribute stop_reading loop serve configure set_env restore_env send frame_of text send_held send_all
	serve_run figures renew set_stdin remember copy_script run compile_cell compile_quickly compile_line compile_tree parse
	compiled named evaluate flush flush_c has_c_code finish end occupied interrupt on_interrupt own_import
	before_fork after_fork_in_parent after_fork_in_child no_input display update_display clear_output get_ipython
	find_completed find_absent find_missing`

// pythonMagics begins the part of the driver's source that is loaded on use.
const pythonMagics = "\n# magics\n"

// pythonAdded ends that: what callers add behind it runs at the start.
const pythonAdded = "\n# added\n"

// pythonDriver is the driver's source.
var pythonDriver = sync.OnceValue(func() string {
	const folder = "python/"
	return pydriver.Source("driver") + sourceOf(folder, "channel.py") + pydriver.Source("streams") + pytools.Source + pytools.Contexts +
		sourceOf(folder, "calls.py") + pyvalue.Source + pydriver.Source("display", "imports", "errors", "run") + sourceOf(folder, "loop.py") +
		pythonMagics + pydriver.Source("magics") + pythonAdded
})

// Python returns the language python: CPython 3.9 or later.
func Python() Language {
	return Language{
		Name: "python", Commands: []string{"python3", "python"}, Extension: ".py", MinVersion: "3.9",
		Install: "install Python 3.9 or later (Debian and Ubuntu: apt install python3; macOS: brew install python), or give its path in Language.Commands",
		Notes:   "Top-level await works; asyncio.create_task needs one in the same program. The last expression is the result; display(obj) shows rich objects, and matplotlib figures are shown by themselves. %magics and !commands work as in a notebook.",
		Driver:  &Driver{Args: []string{"-I", "-X", "utf8", "-c", pythonBoot}, Source: pythonDriver(), Functions: true, Input: true, Completer: pydriver.Source("complete")},
		kind:    pythonKind,
	}
}

// JavaScript returns the language javascript: Node.js 18 or later.
func JavaScript() Language {
	return Language{
		Name: "javascript", Commands: []string{"node", "nodejs"}, Extension: ".js", MinVersion: "18",
		Install: "install Node.js 18 or later (Debian and Ubuntu: apt install nodejs; macOS: brew install node), or give its path in Language.Commands",
		Notes:   "Node.js with its own modules, by import or require. Top-level await works, a later program may declare const, let and functions again as what they were, and the last expression is the result; display(mime, data) shows rich data.",
		Driver:  &Driver{Args: []string{"-e", DriverArg}, Source: nodeSource(), Interrupts: true, Functions: true, Input: true, Completer: sourceOf("complete/", "complete.js")},
		kind:    nodeKind,
	}
}

// TypeScript returns the language typescript: JavaScript whose types are
// erased, not checked.
func TypeScript() Language {
	l := JavaScript()
	l.Name, l.Extension, l.kind = "typescript", ".ts", typescriptKind
	l.Notes = "Types are erased, not checked, and not in files that a program imports. " + l.Notes
	return l
}

// Bash returns the language bash: version 4.4 or later.
func Bash() Language {
	return Language{
		Name: "bash", Commands: []string{"bash"}, Extension: ".sh", MinVersion: "4.4",
		Install: "install bash 4.4 or later (macOS: brew install bash)",
		Notes:   "bash with the usual command-line tools. In a context exit ends the shell and its state.",
		Driver:  &Driver{Args: []string{"--norc", "--noprofile", "-c", sourceOf("bash/", "boot.sh"), "bash", DriverArg}, Source: sourceOf("bash/", "driver.sh", "calls.sh"), Functions: true, Input: true},
		kind:    bashKind,
	}
}

// Languages returns the built-in languages.
func Languages() []Language { return []Language{Python(), JavaScript(), TypeScript(), Bash()} }

// InEnvironment returns the languages that use an environment: Python in it, or
// JavaScript and TypeScript with its packages.
func InEnvironment(e *environments.Environment) []Language {
	if e.Python != "" {
		l := Python()
		l.Commands = []string{e.Python}
		return []Language{l}
	}
	list := []Language{JavaScript(), TypeScript()}
	for i := range list {
		list[i].Env = map[string]string{"NODE_PATH": filepath.Join(e.Dir, "node_modules")}
		list[i].environment = e
	}
	return list
}

// check validates a table entry.
func (l *Language) check() error {
	switch {
	case l.Name == "" || l.Name != strings.ToLower(l.Name) || strings.ContainsAny(l.Name, " \t\n"):
		return fmt.Errorf("%w: language name %q; write it in lower case, without blanks", codeinterp.ErrInvalid, l.Name)
	case len(l.Commands) == 0:
		return fmt.Errorf("%w: language %s has no Commands", codeinterp.ErrInvalid, l.Name)
	case l.Driver == nil && !slices.ContainsFunc(l.Args, func(a string) bool { return strings.Contains(a, FileArg) }):
		return fmt.Errorf("%w: the Args of language %s have no %s", codeinterp.ErrInvalid, l.Name, FileArg)
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/scriptfile"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// A script is the arguments, file name and directory of a program, as its own interpreter
// sets them. The drivers of the subprocess provider set them before the program runs, and
// the inmemory provider gets them in the run's context: the program's text is unchanged.
type script struct {
	file string // as it was given; may be empty
	args []string
	dir  string // absolute, empty for a private one

	later bool // the driver of Python takes them with each run; see laterPython
}

func newScript(f *programFlags, file string, args []string) (*script, error) {
	s := &script{file: file, args: args}
	if f.dir == "" {
		if len(args) > 0 && f.provider == "jupyter" {
			return nil, errors.New("a kernel takes no arguments; use --env NAME=VALUE or another provider")
		}
		return s, nil
	}
	if f.provider != "subprocess" {
		return nil, errors.New("--dir goes with --provider subprocess")
	}
	dirs, err := absolute([]string{f.dir})
	if err != nil {
		return nil, err
	}
	s.dir = dirs[0]
	return s, isDirectory("--dir", s.dir)
}

// nodeArgv returns process.argv from 1 on, with the absolute path of the file.
func (s *script) nodeArgv() []string {
	argv := s.argv()
	if path, err := filepath.Abs(s.file); err == nil && s.file != "" {
		argv[0] = path
	}
	return argv
}

// argv returns sys.argv.
func (s *script) argv() []string {
	name := s.file
	if name == "" {
		name = "-"
	}
	return append([]string{name}, s.args...)
}

// adapt returns the languages with drivers that know of the script. A nil
// script changes nothing.
func (s *script) adapt(list []subprocess.Language) []subprocess.Language {
	if s == nil {
		return list
	}
	list = slices.Clone(list)
	for i, l := range list {
		if l.Driver == nil {
			continue
		}
		// A copy: the driver of the list must not change.
		driver := *l.Driver
		switch l.Name {
		case "python":
			driver.Source += s.pythonStart()
		case "javascript", "typescript":
			driver.Source += s.node()
		case "bash":
			driver.Source += "\n" + s.bash() + "\n"
		}
		list[i].Driver = &driver
	}
	return list
}

// python returns code of the driver that sets the file and the arguments.
func (s *script) python() string {
	source := "\nsys.argv = " + literal(s.argv()) + "\n"
	if s.file != "" {
		if path, err := filepath.Abs(s.file); err == nil {
			source += "space['__file__'] = " + literal(path) + "\n"
		}
		source += "state.script = " + literal(s.file) + "\n"
	}
	if s.dir != "" {
		dir := literal(s.dir)
		source += "sys.path.insert(0, " + dir + ")\nos.chdir(" + dir + ")\n"
	}
	return source
}

// pythonStart returns the code that is added to the driver's source.
func (s *script) pythonStart() string {
	if s.later {
		return laterPython
	}
	return s.python()
}

func (s *script) node() string {
	source := "\nprocess.argv.splice(1, Infinity, ..." + literal(s.nodeArgv()) + ");\n"
	if s.file != "" {
		source += "globalThis.__toolcell_script = " + literal(s.file) + ";\n"
	}
	if s.dir != "" {
		source += "process.chdir(" + literal(s.dir) + ");\n"
	}
	return source
}

// bash returns code that sets the name, the arguments and the directory of a shell.
func (s *script) bash() string {
	// Its messages begin with that name.
	source := "BASH_ARGV0=" + quoted(cmp.Or(s.file, "bash")) + "; set --"
	for _, a := range s.args {
		source += " " + quoted(a)
	}
	if s.dir != "" {
		source += "; cd -- " + quoted(s.dir)
	}
	return source
}

// literal writes text or texts as Python and JavaScript both read them.
func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings cannot fail
	}
	return string(b)
}

// quoted writes a word as a shell reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// beside returns the path of a module in the file's directory, which the program cannot
// read.
func (s *script) beside(module string) string {
	if s.file == "" || s.dir != "" || module == "" {
		return ""
	}
	name, local := strings.CutPrefix(module, "./")
	names := []string{name, name + ".js", name + ".ts", name + ".json", name + ".mjs"}
	if !local {
		name, _, _ = strings.Cut(module, ".")
		names = []string{name + ".py", filepath.Join(name, "__init__.py")}
	}
	for _, name := range names {
		path := filepath.Join(filepath.Dir(s.file), name)
		if info, err := os.Stat(path); err == nil && filepath.IsLocal(name) && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// ownName matches the names that providers give to programs.
var ownName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<cell 1>|\bcell-1(\.[jt]s)?\b|\bprogram\.[jt]s\b`) })

// scriptRunner is an interpreter that passes the script to each run, and puts the file's
// name in the errors of programs.
type scriptRunner struct {
	codeinterp.CodeInterpreter
	script *script
}

// Describe is the interpreter's own.
func (s scriptRunner) Describe() codeinterp.Info { return codeinterp.Describe(s.CodeInterpreter) }

func (s scriptRunner) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	named := scriptfile.Script{File: s.script.file}
	if len(s.script.args) > 0 {
		named.Args = s.script.nodeArgv()
	}
	if s.script.later && language == "python" {
		with := *o
		if with.Env = maps.Clone(o.Env); with.Env == nil {
			with.Env = map[string]string{}
		}
		with.Env[scriptVariable] = s.script.python()
		o = &with
	}
	res, err := s.CodeInterpreter.RunCode(scriptfile.With(ctx, named), language, code, o)
	if res.Error != nil && s.script.file != "" {
		e := *res.Error
		e.Traceback, e.RawTraceback = s.script.rename(e.Traceback), s.script.rename(e.RawTraceback)
		res.Error = &e
	}
	return res, err
}

func (s *script) rename(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		if !strings.Contains(line, s.file) { // or the provider knows it already
			lines[i] = ownName().ReplaceAllLiteralString(line, s.file)
		}
	}
	return lines
}

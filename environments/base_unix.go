//go:build unix

package environments

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/internal/interpreter"
)

// A base is the interpreter that an environment is for.
type base struct {
	path    string
	runtime string   // its version
	roots   []string // the files and directories that it needs, beside the system's
}

// findBase returns the first interpreter that works and that no program can change.
func findBase(o *Options) (*base, error) {
	commands, python := []string{"python3", "python"}, o.Language == "python"
	if !python {
		commands = []string{"node", "nodejs"}
	}
	if o.Python != "" {
		path, err := filepath.Abs(o.Python)
		if err != nil {
			return nil, err
		}
		commands = []string{path}
	}
	var tried []string
	for _, path := range interpreter.Candidates(commands, python) {
		b, err := newBase(path, python, interpreter.RealDirs(o.Changeable))
		if err == nil {
			return b, nil
		}
		tried = append(tried, fmt.Sprintf("%s (%v)", path, err))
	}
	if tried == nil {
		return nil, fmt.Errorf("no %s on PATH", strings.Join(commands, " or "))
	}
	return nil, fmt.Errorf("no interpreter: tried %s", strings.Join(tried, "; "))
}

func newBase(path string, python bool, changeable []string) (*base, error) {
	path, err := interpreter.Askable(path, changeable)
	if err != nil {
		return nil, err
	}
	if !python {
		printed, err := interpreter.Ask(path, []string{"--version"}, "")
		if err != nil {
			return nil, err
		}
		return &base{path: path, runtime: "node " + interpreter.Version(printed), roots: interpreter.Roots(path)}, nil
	}
	path, _ = Base(path)
	about, _, err := interpreter.AskPython(path, "")
	if err != nil {
		return nil, err
	}
	if interpreter.Older(about.Version, "3.9") {
		return nil, errors.New("version " + about.Version + " is older than 3.9")
	}
	if filepath.IsAbs(about.Executable) {
		path = about.Executable // a version manager's shim starts another file
	}
	return &base{path: path, runtime: "CPython " + about.Version, roots: interpreter.PythonRoots(path, about.Prefixes, about.Path)}, nil
}

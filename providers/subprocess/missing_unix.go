//go:build unix

package subprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
)

// RunCode implements [codeinterp.CodeInterpreter].
func (i *Interpreter) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	return i.Interpreter.RunCode(ctx, language, code, i.host.withInstall(language, o))
}

// RunCode implements [codeinterp.CodeInterpreter].
func (s *Stateful) RunCode(ctx context.Context, language, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	return s.Stateful.RunCode(ctx, language, code, s.host.withInstall(language, o))
}

// CreateContext implements [codeinterp.StatefulInterpreter].
func (s *Stateful) CreateContext(ctx context.Context, language string, o *codeinterp.ContextOptions) (codeinterp.ContextID, error) {
	if s.host.installs(language) {
		own := codeinterp.ContextOptions{}
		if o != nil {
			own = *o
		}
		own.Functions = s.host.addInstall(own.Functions)
		o = &own
	}
	return s.Stateful.CreateContext(ctx, language, o)
}

func (h *host) withInstall(language string, o *codeinterp.RunOptions) *codeinterp.RunOptions {
	if !h.installs(language) {
		return o
	}
	own := codeinterp.RunOptions{}
	if o != nil {
		own = *o
	}
	own.Functions = h.addInstall(own.Functions)
	return &own
}

// installs reports whether programs of the language can install packages.
func (h *host) installs(language string) bool {
	if h.opts.Install == nil || h.languages["python"] == nil {
		return false
	}
	name, err := codeinterp.ResolveLanguage(language, h.names)
	return err == nil && name == "python"
}

// addInstall returns functions with that which installs.
func (h *host) addInstall(functions []codeinterp.Function) []codeinterp.Function {
	if slices.ContainsFunc(functions, func(f codeinterp.Function) bool { return f.Name == InstallFunction }) {
		return functions
	}
	o := &overlay{Install: h.opts.Install, python: h.languages["python"], opts: &h.opts}
	return append(slices.Clone(functions), codeinterp.Function{
		Name: InstallFunction, Description: "Installs Python packages for this program: " + h.opts.Install.notes() + ".", Call: o.serve,
		Input: json.RawMessage(`{"type":"object","properties":{"packages":{"type":"array","items":{"type":"string"}}},"required":["packages"]}`),
	})
}

// An overlay is what was installed for a run or a context.
type overlay struct {
	*Install
	python *language
	opts   *Options

	mu    sync.Mutex // one installation at a time
	made  int
	wrote int64    // bytes of the environments so far
	locks []string // what is there, beside the interpreter's own
}

// serve answers a call of InstallFunction: with the directory to import from,
// and what in it was not there before.
func (o *overlay) serve(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
	e, added, err := o.install(ctx, c.Args)
	if err != nil {
		return nil, &codeinterp.FunctionError{Message: err.Error()}
	}
	found, err := filepath.Glob(filepath.Join(e.Dir, "lib", "*", "site-packages"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("%w: the environment has no packages", codeinterp.ErrUnavailable)
	}
	return json.Marshal(map[string]any{"path": found[0], "installed": added})
}

func (o *overlay) install(ctx context.Context, args json.RawMessage) (e *environments.Environment, added []string, err error) {
	var wanted struct{ Packages, Modules []string }
	if err := json.Unmarshal(args, &wanted); err != nil {
		return nil, nil, errors.New("packages are a list of names")
	}
	for _, m := range wanted.Modules {
		wanted.Packages = append(wanted.Packages, PackageOf(m))
	}
	packages, err := environments.Requirements(strings.Join(wanted.Packages, "\n"))
	if err == nil && (len(packages) == 0 || len(packages) > 100) {
		err = errors.New("packages are a list of 1 to 100 names")
	}
	if err == nil {
		err = o.allow(ctx, packages)
	}
	if err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.made == maxInstalls {
		return nil, nil, fmt.Errorf("packages can be installed %d times", maxInstalls)
	}
	if o.wrote >= o.Disk {
		return nil, nil, fmt.Errorf("%w: all that may be installed was", codeinterp.ErrQuota)
	}
	o.made++
	beside := slices.Concat(o.python.Installed, o.locks)
	e, err = environments.New(ctx, &environments.Options{
		Packages: packages, Constraints: beside, Python: o.python.Path, Changeable: o.opts.changeable(), Root: o.Root, Disk: o.Disk - o.wrote, Egress: o.opts.Egress,
	})
	if err != nil {
		if errors.Is(err, codeinterp.ErrQuota) {
			o.wrote = o.Disk
		}
		return nil, nil, err
	}
	o.wrote += e.Size()
	for _, line := range e.Lock {
		if !slices.Contains(beside, line) {
			added = append(added, line)
		}
	}
	o.locks = append(o.locks, added...)
	return e, added, nil
}

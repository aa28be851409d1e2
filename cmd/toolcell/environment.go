package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// environmentFlags say which packages Python has.
type environmentFlags struct {
	name   string
	with   list
	getenv func(string) string
}

func (f *environmentFlags) register(fs *flag.FlagSet, getenv func(string) string) {
	f.getenv = getenv
	fs.StringVar(&f.name, "env-name", "", "subprocess: the Python environment (`name`) to use, made by toolcell env create")
	fs.Var(&f.with, "with", "subprocess: a Python `package` to install, such as pandas, where that was not done yet; several times for several")
}

// prepareEnvironment makes the Python of the flags the one to use.
func (f *subprocessFlags) prepareEnvironment(ctx context.Context) error {
	if f.name == "" && len(f.with) == 0 {
		return nil
	}
	if f.name != "" && (len(f.with) > 0 || f.python != "") {
		return fmt.Errorf("%w: --env-name goes without --with and --python", codeinterp.ErrInvalid)
	}
	root := f.getenv("TOOLCELL_ENVIRONMENTS")
	var e *subprocess.Environment
	var err error
	if f.name != "" {
		e, err = openNamed(root, f.name)
	} else {
		e, err = subprocess.NewEnvironment(ctx, &subprocess.EnvironmentOptions{Packages: f.with, Python: f.python, Root: root})
	}
	if err != nil {
		return err
	}
	f.python = e.Python
	return nil
}

// environmentName is a name that is also a file's.
var environmentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// nameFile returns the file that holds the ID of the environment of a name.
// Those that have none are named by their ID.
func nameFile(root, name string) (string, error) {
	if !environmentName.MatchString(name) {
		return "", fmt.Errorf("%w: environment name %.80q; use letters, digits, dots, dashes", codeinterp.ErrInvalid, name)
	}
	root, err := subprocess.EnvironmentRoot(root)
	return filepath.Join(root, "names", name), err
}

func openNamed(root, name string) (*subprocess.Environment, error) {
	file, err := nameFile(root, name)
	if err != nil {
		return nil, err
	}
	id, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no environment %q; make one with: toolcell env create %s PACKAGE", name, name)
	}
	return subprocess.OpenEnvironment(root, strings.TrimSpace(string(id)))
}

const envSynopsis = "(create NAME (PACKAGE... | --requirements FILE | --lock FILE) | lock NAME | list | remove NAME)"

// envFlags say what an environment consists of.
type envFlags struct{ requirements, lock, python string }

func (f *envFlags) register(fs *flag.FlagSet, _ func(string) string) {
	fs.StringVar(&f.requirements, "requirements", "", "create: a `file` that lists packages, one a line")
	fs.StringVar(&f.lock, "lock", "", "create: a `file` with what toolcell env lock prints: exactly those versions, without the network where they were installed before")
	fs.StringVar(&f.python, "python", "", "create: the Python to build upon (`path`)")
}

// env keeps environments by name.
func (a *app) env(ctx context.Context, args []string) int {
	var f envFlags
	fs := flag.NewFlagSet("env", flag.ContinueOnError)
	f.register(fs, a.getenv)
	operands, code, done := a.parse(fs, "env "+envSynopsis, args)
	if done {
		return code
	}
	root := a.getenv("TOOLCELL_ENVIRONMENTS")
	var err error
	switch {
	case len(operands) > 1 && operands[0] == "create":
		err = a.createEnvironment(ctx, operands[1], operands[2:], &f, &subprocess.EnvironmentOptions{Python: f.python, Root: root})
	case len(operands) == 2 && operands[0] == "lock":
		err = a.lockEnvironment(root, operands[1])
	case len(operands) == 1 && operands[0] == "list":
		err = a.listEnvironments(root)
	case len(operands) == 2 && operands[0] == "remove":
		err = removeEnvironment(ctx, root, operands[1])
	default:
		return a.usageError("use toolcell env %s", envSynopsis)
	}
	if err != nil && ctx.Err() != nil {
		return a.stopped()
	} else if err != nil {
		return a.fail(err)
	}
	return 0
}

func (a *app) createEnvironment(ctx context.Context, name string, packages []string, f *envFlags, o *subprocess.EnvironmentOptions) error {
	file, err := nameFile(o.Root, name)
	if err != nil {
		return err
	}
	if o.Exact = f.lock != ""; o.Exact && (len(packages) > 0 || f.requirements != "") {
		return fmt.Errorf("%w: --lock goes without packages and --requirements", codeinterp.ErrInvalid)
	}
	o.Packages = packages
	for _, list := range []string{f.requirements, f.lock} {
		if list == "" {
			continue
		}
		text, err := os.ReadFile(list)
		if err != nil {
			return fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		more, err := subprocess.Requirements(string(text))
		if err != nil {
			return err
		}
		o.Packages = append(o.Packages, more...)
	}
	e, err := subprocess.NewEnvironment(ctx, o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	half := fmt.Sprintf("%s.%d.new", file, os.Getpid())
	if err := errors.Join(os.WriteFile(half, []byte(e.ID+"\n"), 0o644), os.Rename(half, file)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s  %s\n", name, strings.Join(e.Lock, " "))
	return nil
}

// lockEnvironment prints what an environment holds.
func (a *app) lockEnvironment(root, name string) error {
	e, err := openNamed(root, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, strings.Join(e.Lock, "\n"))
	return err
}

func (a *app) listEnvironments(root string) error {
	names, err := environmentNames(root)
	for _, name := range names {
		if e, err := openNamed(root, name); err == nil {
			fmt.Fprintf(a.stdout, "%s  %s\n", name, strings.Join(e.Lock, " "))
		} else {
			fmt.Fprintf(a.stdout, "%s  is gone: make it again\n", name)
		}
	}
	return err
}

// environmentNames returns the names, sorted.
func environmentNames(root string) ([]string, error) {
	root, err := subprocess.EnvironmentRoot(root)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(root, "names"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".new") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// removeEnvironment removes a name, and the environment where no other name is
// its.
func removeEnvironment(ctx context.Context, root, name string) error {
	file, err := nameFile(root, name)
	if err != nil {
		return err
	}
	e, err := openNamed(root, name)
	if gone := os.Remove(file); err != nil || gone != nil {
		if gone == nil {
			return nil // there was only the name
		}
		return err
	}
	names, err := environmentNames(root)
	if err != nil {
		return err
	}
	for _, other := range names {
		if o, err := openNamed(root, other); err == nil && o.ID == e.ID {
			return nil
		}
	}
	return e.Remove(ctx)
}

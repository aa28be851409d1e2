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
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
)

// environmentName is a name that is also a file's.
var environmentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// nameFile returns the file that holds the ID of the environment of a name.
// Those that have none are named by their ID.
func nameFile(root, name string) (string, error) {
	if !environmentName().MatchString(name) {
		return "", fmt.Errorf("%w: environment name %.80q; use letters, digits, dots, dashes", codeinterp.ErrInvalid, name)
	}
	root, err := environments.Root(root)
	return filepath.Join(root, "names", name), err
}

// A noName is the error of a name that no environment has.
type noName string

func (e noName) Error() string {
	return fmt.Sprintf("there is no environment %q; make one with: toolcell env create %s PACKAGE", string(e), string(e))
}

func openNamed(root, name string) (*environments.Environment, error) {
	file, err := nameFile(root, name)
	if err != nil {
		return nil, err
	}
	id, err := os.ReadFile(file)
	if err != nil {
		return nil, noName(name)
	}
	return environments.Open(root, strings.TrimSpace(string(id)))
}

const envSynopsis = "(create NAME (PACKAGE... | --requirements FILE | --lock FILE) | lock NAME | list | remove NAME | sweep)"

// envFlags say what an environment consists of.
type envFlags struct {
	requirements, lock, python string
	size                       size
}

func (f *envFlags) register(fs *flag.FlagSet, _ func(string) string) {
	fs.StringVar(&f.requirements, "requirements", "", "create: a `file` that lists packages, one a line")
	fs.StringVar(&f.lock, "lock", "", "create: a `file` with what toolcell env lock prints: exactly those versions, without the network where they were installed before")
	fs.StringVar(&f.python, "python", "", "create: the Python to build upon (`path`)")
	fs.Var(&f.size, "size", "create: what the installation may write and hold in memory (`size`, such as 2G; default 16G). sweep: what may stay (default nothing): environments without a name are removed that were used the longest ago, as those of --with and --install, and what is kept to make them again")
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
		err = a.createEnvironment(ctx, operands[1], operands[2:], &f, &environments.Options{Python: f.python, Root: root, Disk: int64(f.size)})
	case len(operands) == 2 && operands[0] == "lock":
		err = a.lockEnvironment(root, operands[1])
	case len(operands) == 1 && operands[0] == "list":
		err = a.listEnvironments(root)
	case len(operands) == 2 && operands[0] == "remove":
		err = removeEnvironment(ctx, root, operands[1])
	case len(operands) == 1 && operands[0] == "sweep":
		err = a.sweepEnvironments(ctx, root, int64(f.size))
	default:
		return a.usageError("use toolcell env %s", envSynopsis)
	}
	none, isNone := errors.AsType[noName](err)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return a.stopped()
	case isNone:
		return a.fail(fmt.Errorf("there is no environment %q; toolcell env list shows which there are", string(none)))
	}
	return a.fail(err)
}

func (a *app) createEnvironment(ctx context.Context, name string, packages []string, f *envFlags, o *environments.Options) error {
	file, err := nameFile(o.Root, name)
	if err != nil {
		return err
	}
	if o.Exact = f.lock != ""; o.Exact && (len(packages) > 0 || f.requirements != "") {
		return fmt.Errorf("%w: --lock goes without packages and --requirements", codeinterp.ErrInvalid)
	}
	if len(packages) == 0 && f.requirements == "" && f.lock == "" {
		return fmt.Errorf("%w: env create %s names no package; use toolcell env create NAME (PACKAGE... | --requirements FILE | --lock FILE)", codeinterp.ErrInvalid, name)
	}
	if err := named("--python", f.python); err != nil {
		return err
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
		more, err := requirements(string(text))
		if err != nil {
			return err
		}
		o.Packages = append(o.Packages, more...)
	}
	python, node := byLanguage(o.Packages)
	if len(node) > 0 && len(python) > 0 {
		return fmt.Errorf("%w: an environment is of Python or, with packages such as npm:lodash, of Node.js", codeinterp.ErrInvalid)
	} else if len(node) > 0 {
		o.Language, o.Packages = "javascript", node
	}
	done := a.installing(o.Packages)
	e, err := environments.New(ctx, o)
	done()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	// Renamed into place, so that nobody reads half of an ID.
	half := fmt.Sprintf("%s.%d.new", file, os.Getpid())
	if err := errors.Join(os.WriteFile(half, []byte(e.ID+"\n"), 0o644), os.Rename(half, file)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s  %s\n", name, strings.Join(locked(e), " "))
	return nil
}

// requirements reads a file of packages, which are Python's or, all of them, written
// as npm:lodash.
func requirements(text string) ([]string, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "npm:") {
		return environments.Requirements(text)
	}
	return strings.Fields(text), nil
}

// locked is what an environment holds, as packages are written here.
func locked(e *environments.Environment) []string {
	if e.Python != "" {
		return e.Lock
	}
	var list []string
	for _, p := range e.Lock {
		list = append(list, "npm:"+p)
	}
	return list
}

// lockEnvironment prints what an environment holds.
func (a *app) lockEnvironment(root, name string) error {
	e, err := openNamed(root, name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, strings.Join(locked(e), "\n"))
	return err
}

func (a *app) listEnvironments(root string) error {
	names, err := environmentNames(root)
	for _, name := range names {
		says := "is gone: make it again"
		if e, err := openNamed(root, name); err == nil {
			says = strings.Join(locked(e), " ")
		}
		if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", name, says); err != nil {
			return err
		}
	}
	return err
}

// environmentNames returns the names, sorted.
func environmentNames(root string) ([]string, error) {
	root, err := environments.Root(root)
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
	// Also where there is no such environment any more: its name goes all the same.
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

// sweepEnvironments removes what has no name until the rest is small enough.
func (a *app) sweepEnvironments(ctx context.Context, root string, size int64) error {
	names, err := environmentNames(root)
	if err != nil {
		return err
	}
	var keep []string
	for _, name := range names {
		if e, err := openNamed(root, name); err == nil {
			keep = append(keep, e.ID)
		}
	}
	removed, left, err := environments.Sweep(ctx, root, size, keep)
	fmt.Fprintf(a.stdout, "removed %d; %d MB are left\n", len(removed), (left+999_999)/1_000_000)
	return err
}

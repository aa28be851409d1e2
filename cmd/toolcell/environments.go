package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/workspace/template"
)

// envFlags choose the contents of an environment.
type envFlags struct {
	requirements, lock, python string
	size                       int64
	net                        networkFlags
}

// envCommand manages environments by name.
func (a *app) envCommand() *cobra.Command {
	f := &envFlags{}
	root := a.getenv("TOOLCELL_ENVIRONMENTS")
	c := &cobra.Command{Use: "env", Short: "Make and manage environments with packages for programs"}
	c.AddCommand(
		a.task("create NAME (PACKAGE... | --requirements FILE | --lock FILE)", "Make an environment with these packages", 1, math.MaxInt, f.register,
			func(ctx context.Context, of []string) error {
				return a.createEnvironment(ctx, of[0], of[1:], f, &environments.Options{Python: f.python, Root: root, Disk: f.size})
			}),
		a.task("lock NAME", "Print the exact versions in an environment", 1, 1, nil,
			func(_ context.Context, of []string) error { return a.lockEnvironment(root, of[0]) }),
		a.task("list", "List the environments", 0, 0, nil,
			func(context.Context, []string) error { return a.listEnvironments(root) }),
		a.task("remove NAME", "Remove an environment", 1, 1, nil,
			func(ctx context.Context, of []string) error { return removeEnvironment(ctx, root, of[0]) }),
		a.task("sweep", "Remove environments without a name, such as those of --with", 0, 0, func(fs *pflag.FlagSet, _ func(string) string) {
			fs.Func("size", "keep up to this `size` of the environments that were used last (default: none)", bytesIn(&f.size))
		}, func(ctx context.Context, _ []string) error { return a.sweepEnvironments(ctx, root, f.size) }))
	return c
}

func (f *envFlags) register(fs *pflag.FlagSet, _ func(string) string) {
	fs.StringVar(&f.requirements, "requirements", "", "install the packages that this `file` lists, one a line")
	fs.StringVar(&f.lock, "lock", "", "install exactly the versions in this `file`, which toolcell env lock printed")
	fs.StringVar(&f.python, "python", "", "the Python to build on (`path`)")
	fs.Func("size", "what the installation may write and hold in memory, a `size` such as 2G (default 16G)", bytesIn(&f.size))
	f.net.register(fs)
}

func (a *app) createEnvironment(ctx context.Context, name string, packages []string, f *envFlags, o *environments.Options) error {
	file, err := environments.NameFile(o.Root, name)
	if o.Exact = f.lock != ""; o.Exact && (len(packages) > 0 || f.requirements != "") {
		return fmt.Errorf("%w: --lock goes without packages and --requirements", codeinterp.ErrInvalid)
	}
	if err == nil {
		err = named("--python", f.python)
	}
	if err == nil {
		// Without flags, the host's network: it is the operator who installs.
		o.Egress, err = f.net.options(a.getenv)
	}
	if err == nil {
		o.Packages, err = f.packages(packages)
	}
	if err != nil {
		return err
	}
	python, node := template.ByLanguage(o.Packages)
	switch {
	case len(o.Packages) == 0:
		return fmt.Errorf("%w: env create %s names no package; use toolcell env create NAME (PACKAGE... | --requirements FILE | --lock FILE)", codeinterp.ErrInvalid, name)
	case len(node) > 0 && len(python) > 0:
		return fmt.Errorf("%w: an environment is of Python or, with packages such as npm:lodash, of Node.js", codeinterp.ErrInvalid)
	case len(node) > 0:
		o.Language, o.Packages = "javascript", node
	}
	e, err := newEnvironment(ctx, o, a.progress)
	if err == nil {
		err = nameEnvironment(file, e)
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "%s  %s\n", name, strings.Join(locked(e), " "))
	}
	return err
}

// packages returns the packages of the operands and of the files that flags name, which
// list those of Python or, all of them, those of npm such as npm:lodash.
func (f *envFlags) packages(list []string) ([]string, error) {
	for _, file := range []string{f.requirements, f.lock} {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		more := strings.Fields(string(text))
		if len(more) == 0 || !strings.HasPrefix(more[0], "npm:") {
			more, err = environments.Requirements(string(text))
		}
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// nameEnvironment writes the file that names an environment. It is renamed into place: a
// reader never sees half of an ID.
func nameEnvironment(file string, e *environments.Environment) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	half := fmt.Sprintf("%s.%d.new", file, os.Getpid())
	return errors.Join(os.WriteFile(half, []byte(e.ID+"\n"), 0o644), os.Rename(half, file))
}

// locked returns the packages of an environment, as flags name them.
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

// lockEnvironment prints the packages of an environment.
func (a *app) lockEnvironment(root, name string) error {
	e, err := environments.OpenNamed(root, name)
	if err == nil {
		_, err = fmt.Fprintln(a.stdout, strings.Join(locked(e), "\n"))
	}
	return err
}

func (a *app) listEnvironments(root string) error {
	names, err := environmentNames(root)
	for _, name := range names {
		contents := "is gone: make it again"
		if e, err := environments.OpenNamed(root, name); err == nil {
			contents = strings.Join(locked(e), " ")
		}
		if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", name, contents); err != nil {
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

// namedIDs returns the IDs of the environments that have a name.
func namedIDs(root string) (ids []string, err error) {
	names, err := environmentNames(root)
	for _, name := range names {
		if e, err := environments.OpenNamed(root, name); err == nil {
			ids = append(ids, e.ID)
		}
	}
	return ids, err
}

// removeEnvironment removes a name, and the environment if it has no other name.
func removeEnvironment(ctx context.Context, root, name string) error {
	file, err := environments.NameFile(root, name)
	if err != nil {
		return err
	}
	e, failed := environments.OpenNamed(root, name)
	if err := os.Remove(file); err != nil {
		return cmp.Or(failed, err)
	}
	ids, err := namedIDs(root)
	if err != nil || failed != nil || slices.Contains(ids, e.ID) {
		return err // the name goes even if its environment is gone
	}
	return e.Remove(ctx)
}

// sweepEnvironments removes environments without a name until the rest is small enough.
func (a *app) sweepEnvironments(ctx context.Context, root string, size int64) error {
	keep, err := namedIDs(root)
	if err != nil {
		return err
	}
	removed, left, err := environments.Sweep(ctx, root, size, keep)
	fmt.Fprintf(a.stdout, "removed %d; %d MB are left\n", len(removed), (left+999_999)/1_000_000)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
)

// environmentName matches names that are also names of files.
var environmentName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// nameFile returns the file that holds the ID of the environment of a name.
// Environments without a name are found by their ID.
func nameFile(root, name string) (string, error) {
	if !environmentName().MatchString(name) {
		return "", fmt.Errorf("%w: environment name %.80q; use letters, digits, dots, dashes", codeinterp.ErrInvalid, name)
	}
	root, err := environments.Root(root)
	return filepath.Join(root, "names", name), err
}

// openNamed opens the environment of a name.
func openNamed(root, name string) (*environments.Environment, error) {
	file, err := nameFile(root, name)
	if err != nil {
		return nil, err
	}
	id, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no environment %q; see toolcell env list, or make it: toolcell env create %s PACKAGE", name, name)
	}
	return environments.Open(root, strings.TrimSpace(string(id)))
}

// envFlags choose the contents of an environment.
type envFlags struct {
	requirements, lock, python string
	size                       int64
}

// envCommand manages environments by name.
func (a *app) envCommand() *cobra.Command {
	c := &cobra.Command{Use: "env", Short: "Make and manage environments with packages for programs"}
	c.AddCommand(a.envCreate(), a.envSubcommand("lock NAME", "Print the exact versions in an environment", 1, nil, a.lockEnvironment),
		a.envSubcommand("list", "List the environments", 0, nil, func(_ context.Context, root string, _ []string) error { return a.listEnvironments(root) }),
		a.envSubcommand("remove NAME", "Remove an environment", 1, nil, removeEnvironment), a.envSweep())
	return c
}

// envSubcommand returns a command that takes n operands.
func (a *app) envSubcommand(use, short string, n int, register func(*pflag.FlagSet, func(string) string), do func(ctx context.Context, root string, operands []string) error) *cobra.Command {
	c := a.command(use, short, register, func(ctx context.Context, _ *pflag.FlagSet, operands []string) int {
		if len(operands) < n || n < 2 && len(operands) > n {
			return a.usageError("use toolcell env %s", use)
		}
		return a.endEnv(ctx, do(ctx, a.getenv("TOOLCELL_ENVIRONMENTS"), operands))
	})
	if n > 0 {
		c.ValidArgsFunction = a.completeEnvironment
	}
	return c
}

func (a *app) envCreate() *cobra.Command {
	f := &envFlags{}
	register := func(fs *pflag.FlagSet, _ func(string) string) {
		fs.StringVar(&f.requirements, "requirements", "", "install the packages that this `file` lists, one a line")
		fs.StringVar(&f.lock, "lock", "", "install exactly the versions in this `file`, which toolcell env lock printed")
		fs.StringVar(&f.python, "python", "", "the Python to build on (`path`)")
		fs.Func("size", "what the installation may write and hold in memory, a `size` such as 2G (default 16G)", bytesIn(&f.size))
	}
	const use = "create NAME (PACKAGE... | --requirements FILE | --lock FILE)"
	return a.command(use, "Make an environment with these packages", register, func(ctx context.Context, _ *pflag.FlagSet, operands []string) int {
		if len(operands) == 0 {
			return a.usageError("use toolcell env %s", use)
		}
		return a.endEnv(ctx, a.createEnvironment(ctx, operands[0], operands[1:], f,
			&environments.Options{Python: f.python, Root: a.getenv("TOOLCELL_ENVIRONMENTS"), Disk: f.size}))
	})
}

func (a *app) envSweep() *cobra.Command {
	f := &envFlags{}
	register := func(fs *pflag.FlagSet, _ func(string) string) {
		fs.Func("size", "keep up to this `size` of the environments that were used last (default: none)", bytesIn(&f.size))
	}
	return a.envSubcommand("sweep", "Remove environments without a name, such as those of --with", 0, register,
		func(ctx context.Context, root string, _ []string) error {
			return a.sweepEnvironments(ctx, root, f.size)
		})
}

// endEnv reports how a command ended.
func (a *app) endEnv(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return a.stopped()
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
	if o.Packages, err = f.packages(packages); err != nil {
		return err
	}
	python, node := byLanguage(o.Packages)
	if len(node) > 0 && len(python) > 0 {
		return fmt.Errorf("%w: an environment is of Python or, with packages such as npm:lodash, of Node.js", codeinterp.ErrInvalid)
	} else if len(node) > 0 {
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

// packages returns the packages of the operands and of the files that flags name.
func (f *envFlags) packages(list []string) ([]string, error) {
	for _, file := range []string{f.requirements, f.lock} {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		more, err := requirements(string(text))
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

// requirements reads a file of packages, which are Python's or, all of them, written
// as npm:lodash.
func requirements(text string) ([]string, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "npm:") {
		return environments.Requirements(text)
	}
	return strings.Fields(text), nil
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
func (a *app) lockEnvironment(_ context.Context, root string, operands []string) error {
	e, err := openNamed(root, operands[0])
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

// removeEnvironment removes a name, and the environment if it has no other name.
func removeEnvironment(ctx context.Context, root string, operands []string) error {
	name := operands[0]
	file, err := nameFile(root, name)
	if err != nil {
		return err
	}
	e, err := openNamed(root, name)
	// The name goes even if its environment is gone.
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

// sweepEnvironments removes environments without a name until the rest is small enough.
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

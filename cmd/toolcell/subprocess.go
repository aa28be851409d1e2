package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// subprocessFlags choose the interpreters of this machine, their isolation and their limits.
type subprocessFlags struct {
	net          networkFlags
	isolation    subprocess.Mode
	read, write  []string
	unsandboxed  bool
	python, node string
	memory, disk int64
	processes    int
	warm         bool
	preload      []string
	keep         time.Duration
	forks        bool // contexts can be copied
	environmentFlags

	// shared, if set, is the directory that all programs start in.
	shared string

	// nodeEnvironment, if set, is that of JavaScript and TypeScript.
	nodeEnvironment *environments.Environment

	// startEnv is the environment of a template, or of kept runs.
	startEnv map[string]string

	// languages narrows the provider down to what is needed.
	languages []subprocess.Language
	// script, if known, is what they run.
	script *script
}

func (f *subprocessFlags) register(fs *pflag.FlagSet, getenv func(string) string) {
	f.environmentFlags.register(fs, getenv)
	f.net.register(fs)
	group(fs, "Files", "subprocess", func() {
		fs.Func("read", "let programs read this `path`; repeatable", each(&f.read))
		fs.Func("write", "let programs read and change this `path`; repeatable", each(&f.write))
	})
	group(fs, "Isolation and limits", "subprocess", func() {
		fs.Func("isolation", "insist on this `mode`: bwrap, landlock, or none for no isolation (default: the strongest that works)", modeIn(&f.isolation))
		fs.BoolVar(&f.unsandboxed, "allow-unsandboxed", false, "run without isolation if no mode works here")
		fs.Func("memory", "memory that a program may use, a `size` such as 512M; -1 for no limit", bytesIn(&f.memory))
		fs.Func("disk", "what a program may write in its directory, a `size` such as 1G; -1 for no limit", bytesIn(&f.disk))
		fs.IntVar(&f.processes, "processes", 0, "the `number` of processes and threads that a program may have; -1 for no limit")
	})
	group(fs, "Interpreters and packages", "subprocess", func() {
		fs.StringVar(&f.python, "python", "", "the Python to use (`path`), such as that of a virtual environment")
		fs.StringVar(&f.node, "node", "", "the Node.js to use (`path`)")
		fs.BoolVar(&f.warm, "warm", false, "keep started interpreters ready, so that programs begin sooner")
		fs.Func("preload", "import this Python `module` in ready interpreters, such as pandas; repeatable; implies --warm", each(&f.preload))
	})
}

func (f *subprocessFlags) openSubprocess(ctx context.Context, progress func(string, ...any)) (codeinterp.CodeInterpreter, error) {
	opts, err := f.subprocessOptions(ctx, progress)
	if err != nil {
		return nil, err
	}
	return orNil(subprocess.NewStateful(opts))
}

// subprocessOptions installs packages and returns the provider's options.
func (f *subprocessFlags) subprocessOptions(ctx context.Context, progress func(string, ...any)) (*subprocess.Options, error) {
	if err := cmp.Or(named("--python", f.python), named("--node", f.node)); err != nil {
		return nil, err
	}
	err := f.prepareEnvironment(ctx, progress)
	if err != nil {
		return nil, err
	}
	if f.node != "" && f.nodeEnvironment != nil {
		return nil, fmt.Errorf("%w: --node goes without an environment of Node.js", codeinterp.ErrInvalid)
	}
	opts := &subprocess.Options{Dir: f.shared, Forks: f.forks, Sandbox: subprocess.Sandbox{Mode: f.isolation, AllowNone: f.unsandboxed}, Languages: f.script.adapt(f.chosen()),
		Limits: subprocess.Limits{Memory: f.memory, Disk: f.disk, Processes: f.processes}}
	if f.getenv != nil {
		opts.ProbeCache = userFile(f.getenv, "XDG_CACHE_HOME", ".cache", "probes")
	}
	if opts.Egress, err = f.net.options(f.getenv); err != nil {
		return nil, err
	}
	if len(f.install) > 0 {
		opts.Install = &subprocess.Install{Packages: f.install, Root: f.getenv("TOOLCELL_ENVIRONMENTS")}
	}
	if opts.Env = f.startEnv; f.keep > 0 {
		opts.Keep = &subprocess.Keep{Lease: f.keep}
	}
	if f.warm || len(f.preload) > 0 {
		opts.Warm = &subprocess.Warm{Preload: f.preload}
	}
	if opts.ReadOnly, err = absolute(f.read); err != nil {
		return nil, err
	}
	if f.script != nil && f.script.dir != "" {
		opts.ReadOnly = append(opts.ReadOnly, f.script.dir)
	}
	opts.Writable, err = absolute(f.write)
	return opts, err
}

// chosen returns the languages with the interpreters that the flags name, or nil to use
// those that are found. A named interpreter has to work.
func (f *subprocessFlags) chosen() []subprocess.Language {
	if f.python == "" && f.node == "" && f.nodeEnvironment == nil {
		return f.languages
	}
	list := f.languages
	if list == nil {
		list = ownLanguages()
	}
	var some []subprocess.Language
	for _, l := range list {
		switch {
		case (l.Name == "javascript" || l.Name == "typescript") && f.nodeEnvironment != nil:
			l = inEnvironment(l, f.nodeEnvironment)
		case l.Name == "python" && f.python != "":
			l.Commands = []string{f.python}
		case (l.Name == "javascript" || l.Name == "typescript") && f.node != "":
			l.Commands = []string{f.node}
		// What is named in the options has to work; of what was not asked for, what
		// is missing is left out.
		case f.languages == nil && !slices.ContainsFunc(l.Commands, installed):
			continue
		}
		some = append(some, l)
	}
	return some
}

// named checks that the command of a flag can be started.
func named(flag, command string) error {
	if command == "" {
		return nil
	}
	_, err := exec.LookPath(command)
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%w: %s %s: %w", codeinterp.ErrInvalid, flag, command, err)
}

// inEnvironment returns the language of that name in the environment.
func inEnvironment(l subprocess.Language, e *environments.Environment) subprocess.Language {
	list := subprocess.InEnvironment(e)
	return list[slices.IndexFunc(list, func(k subprocess.Language) bool { return k.Name == l.Name })]
}

func installed(command string) bool {
	_, err := exec.LookPath(command)
	return err == nil
}

// absolute makes paths absolute, and refuses those that do not exist.
func absolute(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err == nil {
			_, err = os.Stat(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
		}
		out = append(out, abs)
	}
	return out, nil
}

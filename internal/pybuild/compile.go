package pybuild

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	// epoch is the time that files bear, in seconds.
	epoch = "1760000000"

	stackSize   = 4 << 20
	firstMemory = 16 << 20
)

// An object is a file that is compiled.
type object struct {
	source, name string
	flags        []string
}

// objects lists all that is compiled.
func (b *build) objects() (list []*object) {
	add := func(g group, flags []string) {
		for _, name := range g.Files {
			o := &object{source: b.expand(name), name: strings.NewReplacer("{", "", "}", "", "/", "+").Replace(name) + ".o"}
			if !strings.HasPrefix(name, "{") {
				o.source = filepath.Join(b.python, name)
			}
			for _, f := range slices.Concat(flags, g.Flags) {
				o.flags = append(o.flags, b.expand(f))
			}
			list = append(list, o)
		}
	}
	for _, g := range b.recipe.Groups {
		add(g, b.recipe.Flags)
	}
	for _, g := range b.recipe.Libraries {
		add(g, nil)
	}
	return list
}

// needsFrozen tells whether an object is made of the frozen modules.
func (o *object) needsFrozen() bool {
	return o.name == "Python+frozen.c.o" || o.name == "Modules+getpath.c.o"
}

// forFreezing tells whether an object is only of the program that freezes.
func (o *object) forFreezing() bool {
	return o.name == "Programs+_freeze_module.c.o" || o.name == "Modules+getpath_noop.c.o"
}

// compileAll compiles what does not need the frozen modules.
func (b *build) compileAll(ctx context.Context) error {
	return b.compile(ctx, slices.DeleteFunc(b.objects(), (*object).needsFrozen))
}

// compile compiles objects, as many at a time as there are processors.
func (b *build) compile(ctx context.Context, list []*object) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for _, o := range list {
		g.Go(func() error { return b.zigcc(ctx, append(o.flags, "-c", o.source, "-o", o.name)...) })
	}
	return g.Wait()
}

// zigcc runs the C compiler in the work directory.
func (b *build) zigcc(ctx context.Context, args ...string) error {
	always := []string{"cc", "--target=wasm32-wasi", "-fno-sanitize=undefined", "-g0", "-w", "-Wno-int-conversion", "-Wno-date-time", "-DSOCK_RAW=3",
		"-ffile-prefix-map=" + b.work + "=/build", "-ffile-prefix-map=" + b.python + "=/python"}
	cmd := exec.CommandContext(ctx, b.zig, append(always, args...)...)
	cmd.Dir = b.work
	cache := filepath.Join(b.work, "zig-cache")
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+epoch, "ZIG_GLOBAL_CACHE_DIR="+cache, "ZIG_LOCAL_CACHE_DIR="+cache)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("zig %s: %w\n%s", strings.Join(args[max(len(args)-4, 0):], " "), err, out)
	}
	return nil
}

// linkFlags are those of both programs. The objects that the recipe marks are compiled here,
// as one.
func linkFlags(output string, more ...string) []string {
	flags := []string{"-O2", "-flto", "-z", fmt.Sprintf("stack-size=%d", stackSize), fmt.Sprintf("-Wl,--initial-memory=%d", firstMemory),
		"-Wl,--gc-sections", "-s", "-o", output, "-lwasi-emulated-signal", "-lwasi-emulated-getpid", "-lwasi-emulated-process-clocks", "-lm"}
	return append(flags, more...)
}

// link makes the interpreter.
func (b *build) link(ctx context.Context) error {
	args := linkFlags(filepath.Join(b.out, wasmName), "-mexec-model=reactor")
	for _, o := range b.objects() {
		if !o.forFreezing() {
			args = append(args, o.name)
		}
	}
	return b.zigcc(ctx, args...)
}

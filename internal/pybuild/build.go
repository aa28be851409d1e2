// Package pybuild makes the pack of package providers/inmemory/python from sources: CPython
// and its standard library as WebAssembly. It needs no make, shell, configure or Python,
// only zig as C compiler.
package pybuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options tunes Build.
type Options struct {
	// Work is a directory for what is obtained and made on the way, 700 MB, of which a later
	// build uses again what it finds. Empty means a temporary one, which is removed.
	Work string
	// Log is where each step is listed. Nil means nowhere.
	Log io.Writer
}

// A build is what the pack is made from and where.
type build struct {
	zig, python, zlib, libc, sqlite, tzdata string
	out, work                               string
	recipe                                  *recipe
}

// Build makes the pack in a directory, and its archive beside that, by the pack's name. It
// obtains the sources by the ordinary clients of package registries: pip, go, and apt-get of
// Debian. It takes about five minutes of a processor.
func Build(ctx context.Context, dir string, o *Options) (err error) {
	b := &build{}
	if b.recipe, err = readRecipe(); err != nil {
		return err
	}
	work := o.Work
	if work == "" {
		if work, err = os.MkdirTemp("", "toolcell-build-"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	for to, dir := range map[*string]string{&b.work: work, &b.out: dir} {
		if *to, err = filepath.Abs(dir); err == nil {
			err = os.MkdirAll(*to, 0o755)
		}
		if err != nil {
			return err
		}
	}
	for _, s := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"sources", b.fetch}, {"headers", b.writeHeaders}, {"objects", b.compileAll}, {"frozen modules", b.freeze},
		{wasmName, b.link}, {libraryName, b.makeLibrary}, {"manifest.json", b.writeManifest}, {"archive", b.writeArchive},
	} {
		start := time.Now()
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, errors.Join(context.Cause(ctx), err))
		}
		fmt.Fprintf(cmp.Or(o.Log, io.Discard), "%-15s %v\n", s.name, time.Since(start).Round(time.Second))
	}
	return nil
}

// Package pybuild makes the pack of package providers/inmemory/python from sources: CPython
// and its standard library as WebAssembly. It needs no make, shell, configure or Python,
// only zig as C compiler.
package pybuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A build is what the pack is made from and where.
type build struct {
	zig, python, zlib, libc, sqlite, tzdata string
	out, work                               string
	recipe                                  *recipe
}

// Build makes the pack in a directory, and its archive beside that, by the pack's name. It
// obtains the sources by the ordinary clients of package registries: pip, go, and apt-get of
// Debian. It takes about five minutes of a processor. work is a directory for what is obtained
// and made on the way, 700 MB, of which a later build uses again what it finds; empty means a
// temporary one, which is removed. Each step is listed on log.
func Build(ctx context.Context, dir, work string, log io.Writer) (err error) {
	b := &build{}
	if b.recipe, err = readRecipe(); err != nil {
		return err
	}
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
		{"sources", b.fetch}, {"own sources", b.writeSources}, {"objects", b.compileAll}, {"frozen modules", b.freeze},
		{wasmName, b.link}, {libraryName, b.makeLibrary}, {"archive", b.writeArchive},
	} {
		start := time.Now()
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, errors.Join(context.Cause(ctx), err))
		}
		fmt.Fprintf(log, "%-15s %v\n", s.name, time.Since(start).Round(time.Second))
	}
	return nil
}

// Command pybuild makes the pack of package providers/inmemory/python from sources: CPython
// and its standard library as WebAssembly. It needs no make, shell, configure or Python,
// only zig as C compiler.
//
//	pybuild -zig zig -python DIR -zlib DIR -libc DIR -sqlite DIR -tzdata FILE -out DIR
//	pybuild -fetch -out DIR
//	pybuild -archive DIR -out DIR
//
// With -fetch it obtains what is not given by the ordinary clients of package registries:
// pip, go, and apt-get of Debian. It takes about five minutes of a processor and 700 MB of
// disk in a work directory, which -work names and a later run uses again. With -archive it
// only writes the archive of a pack to a directory and prints its name and SHA-256.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// A build is what the pack is made from and where.
type build struct {
	zig, python, zlib, libc, sqlite, tzdata string
	out, work                               string
	archive                                 string // of CPython, if it was fetched

	recipe *recipe
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var b build
	flag.StringVar(&b.zig, "zig", "", "the zig `program`")
	flag.StringVar(&b.python, "python", "", "`directory` of CPython's sources")
	flag.StringVar(&b.zlib, "zlib", "", "`directory` of zlib's sources")
	flag.StringVar(&b.libc, "libc", "", "`directory` of wasi-libc's sources")
	flag.StringVar(&b.sqlite, "sqlite", "", "`directory` of sqlite3-binding.c, SQLite in one file")
	flag.StringVar(&b.tzdata, "tzdata", "", "the wheel of tzdata, a `file`")
	flag.StringVar(&b.out, "out", filepath.Join(".testenv", "python-pack"), "`directory` for the pack")
	flag.StringVar(&b.work, "work", "", "`directory` for what is made on the way (default: beside out)")
	fetch := flag.Bool("fetch", false, "obtain the sources that are not given")
	archive := flag.String("archive", "", "write the archive of the pack to this `directory`, and build nothing")
	flag.Parse()
	do := func() error { return b.run(ctx, *fetch) }
	if *archive != "" {
		do = func() error { return b.release(*archive) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "pybuild:", err)
		os.Exit(1)
	}
}

// run makes the pack.
func (b *build) run(ctx context.Context, fetch bool) (err error) {
	if b.recipe, err = readRecipe(); err != nil {
		return err
	}
	if b.work == "" {
		b.work = filepath.Clean(b.out) + "-work"
	}
	for _, dir := range []*string{&b.work, &b.out} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
		if err := os.MkdirAll(*dir, 0o755); err != nil {
			return err
		}
	}
	if fetch {
		if err := b.fetch(ctx); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"headers", b.writeHeaders}, {"objects", b.compileAll}, {"frozen modules", b.freeze},
		{"python.wasm", b.link}, {"stdlib.zip", b.makeLibrary}, {"manifest.json", b.writeManifest}, {"archive", b.writeArchive},
	} {
		start := time.Now()
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("%-15s %v\n", s.name, time.Since(start).Round(time.Second))
	}
	return nil
}

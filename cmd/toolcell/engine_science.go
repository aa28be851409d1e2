package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/toolcell/toolcell/internal/pybuild"
	"github.com/toolcell/toolcell/providers/inmemory/python"
	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
	"github.com/toolcell/toolcell/providers/inmemory/python/science"
)

// installScience makes the science pack of its wheel, which f.from names, and installs it.
func (a *app) installScience(ctx context.Context, f *engineFlags) (*pack.Installed, error) {
	fmt.Fprintf(a.stderr, "toolcell: the science pack needs a download of 98 MB, 650 MB of disk, and once two minutes of two processors and 2.2 GB of memory\n")
	dir, err := os.MkdirTemp("", "toolcell-science-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if f.from != "" && !strings.HasSuffix(f.from, ".whl") { // a pack that was made before
		return pack.Install(ctx, f.from, a.packOptions(f))
	}
	wheel, err := a.fetchWheel(ctx, f.from, dir)
	if err != nil {
		return nil, err
	}
	made := filepath.Join(dir, "pack")
	if err := os.Mkdir(made, 0o700); err != nil {
		return nil, err
	}
	if _, err := science.Build(ctx, wheel, made); err != nil {
		return nil, err
	}
	return pack.Install(ctx, made, nil)
}

// fetchWheel puts the wheel into a directory, by pip where from is empty.
func (a *app) fetchWheel(ctx context.Context, from, dir string) (string, error) {
	if from == "" {
		fmt.Fprintf(a.stderr, "toolcell: pip downloads %s %s\n", science.Project, science.Version)
		file, err := pybuild.Wheel(ctx, dir, science.Project+"=="+science.Version)
		if err != nil {
			err = fmt.Errorf("%w: %v; --from takes the wheel as a file or a URL", errors.ErrUnsupported, err)
		}
		return file, err
	}
	r, _, err := pack.Open(ctx, from, nil)
	if err != nil {
		return "", err
	}
	defer r.Close()
	name := filepath.Join(dir, "wheel")
	w, err := os.Create(name)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(w, io.LimitReader(r, 1<<30))
	return name, errors.Join(err, w.Close())
}

// compileSlowly loads an engine of the science pack. What is compiled for the first time
// needs less memory where the collector works more.
func (a *app) compileSlowly(ctx context.Context, p *pack.Installed) (*python.Engine, error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1700 << 20))
	start, tick := time.Now(), time.NewTicker(10*time.Second)
	defer tick.Stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(a.stderr, "toolcell: compiling, %d s\n", int(time.Since(start).Seconds()))
			case <-ended:
				return
			}
		}
	}()
	return loadPython(ctx, p, nil)
}

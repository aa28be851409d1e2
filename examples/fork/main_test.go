//go:build real

package main

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/toolcell/toolcell/internal/packtest"
	"github.com/toolcell/toolcell/providers/inmemory/python"
)

// TestRun: the three ways do not disturb each other, and the best is kept.
func TestRun(t *testing.T) {
	dir := packtest.Dir(t)
	t.Run("inmemory", func(t *testing.T) { try(t, &python.Options{Pack: os.DirFS(dir), Cache: packtest.Cache(dir)}) })
	t.Run("subprocess", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("copies of processes need Linux")
		}
		try(t, nil)
	})
}

func try(t *testing.T, o *python.Options) {
	ci, closed, err := open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := errors.Join(run(t.Context(), ci, &out), closed()); err != nil {
		t.Fatal(err)
	}
	const want = "the mean: error 2.270\nthe value before: error 0.361\nthe line between: error 0.029\nthe best begins with 20.0 21.43 22.82 24.08 25.35\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}

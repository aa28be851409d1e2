package codeinterp

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// filed adds context files to memory.
type filed struct{ memory }

type noFS struct{ FS }

func (filed) OpenFiles(_ context.Context, id ContextID) (FS, error) {
	if id != "c" {
		return nil, ErrContext
	}
	return noFS{}, nil
}

// TestFilesThroughLayers opens files through two layers; a guard that lets only
// reading operations through refuses, since files can be written.
func TestFilesThroughLayers(t *testing.T) {
	var seen []string
	f, ok := Files(Wrap(Wrap(filed{}, spy("inner", &seen)), spy("outer", &seen)))
	if !ok {
		t.Fatal("no files")
	}
	fsys, err := f.OpenFiles(t.Context(), "c")
	if want := []string{"outer open files", "inner open files"}; fsys != (noFS{}) || err != nil || !slices.Equal(seen, want) {
		t.Errorf("%v, %v, %q", fsys, err, seen)
	}
	if _, err := f.OpenFiles(t.Context(), "d"); !errors.Is(err, ErrContext) {
		t.Errorf("unknown context: %v", err)
	}
	readOnly := func(next Handler) Handler {
		return func(ctx context.Context, c Call) (Reply, error) {
			if !c.Op.Reads() {
				return Reply{}, ErrRefused
			}
			return next(ctx, c)
		}
	}
	f, _ = Files(Wrap(filed{}, readOnly))
	if _, err := f.OpenFiles(t.Context(), "c"); !errors.Is(err, ErrRefused) {
		t.Errorf("through a guard that only lets read: %v", err)
	}
	f, _ = Files(Wrap(filed{}, func(Handler) Handler {
		return func(context.Context, Call) (Reply, error) { return Reply{}, nil }
	}))
	if _, err := f.OpenFiles(t.Context(), "c"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("an answer without files: %v", err)
	}
}

func TestFilesPresence(t *testing.T) {
	if _, ok := Files(memory{}); ok {
		t.Error("files of a provider without")
	}
	if _, ok := Files(Stateless(filed{})); ok {
		t.Error("files without contexts")
	}
}

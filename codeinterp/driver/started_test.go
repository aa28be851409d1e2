//go:build unix

package driver_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// A rude runtime's sessions do something else than tell their files and their place.
type rude struct {
	*fake
	files, cwd func()
	dir        codeinterp.FS // nil: its files cannot be had
}

type rudeSession struct {
	driver.Session
	r rude
}

func (r rude) Describe() codeinterp.Info {
	info := r.fake.Describe()
	info.Languages = slices.Clone(info.Languages)
	for i := range info.Languages {
		info.Languages[i].Files = true
	}
	return info
}

func (r rude) Start(ctx context.Context, o driver.Options) (driver.Session, error) {
	s, err := r.fake.Start(ctx, o)
	return rudeSession{s, r}, err
}

func (r rude) Files(driver.Session) (codeinterp.FS, error) {
	if r.files(); r.dir == nil {
		return nil, errors.New("no files")
	}
	return r.dir, nil
}

func (s rudeSession) Cwd() string { s.r.cwd(); return "/" }

// An exiting source ends the goroutine of whoever reads it, as t.Fatal does.
type exiting struct{ fs.FS }

func (exiting) Open(string) (fs.File, error) { runtimeGoexit(); return nil, nil }

// TestStartedIsClosed: a session that was started for a context is closed where what
// follows does not return.
func TestStartedIsClosed(t *testing.T) {
	fine, some := func() {}, fstest.MapFS{"a": {}}
	oops := func() { panic("oops") }
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dir := rootfs.New(root, nil)
	for name, tt := range map[string]struct {
		rude
		src fs.FS
	}{
		"Cwd panics":         {rude{files: fine, cwd: oops}, nil},
		"Cwd exits":          {rude{files: fine, cwd: runtimeGoexit}, nil},
		"Files panics":       {rude{files: oops, cwd: fine}, some},
		"Files exits":        {rude{files: runtimeGoexit, cwd: fine}, some},
		"Files fails":        {rude{files: fine, cwd: fine}, some},
		"the caller's exits": {rude{files: fine, cwd: fine, dir: dir}, exiting{some}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.fake = &fake{}
				ci := driver.NewStateful(tt.rude, driver.Config{MaxContexts: 1})
				for range 2 { // and takes no place
					if _, err := ci.CreateContext(t.Context(), "fake", &codeinterp.ContextOptions{Files: tt.src}); !errors.Is(err, codeinterp.ErrUnavailable) {
						t.Errorf("created: %v", err)
					}
				}
				if n := tt.open.Load(); n != 0 {
					t.Errorf("%d sessions are open", n)
				}
				if err := ci.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

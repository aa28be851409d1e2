package conformance

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
)

func givenFaults() []fault {
	return []fault{
		{
			name: "files beyond the limit are left out", want: "InputsWhole",
			wrap: options(func(c codeinterp.Call, o *codeinterp.RunOptions) {
				if m, ok := o.Files.(fstest.MapFS); ok && len(m) > codeinterp.MaxInputFiles {
					o.Files = fstest.MapFS{"a": {Data: []byte("a")}}
				}
			}),
		},
		{
			name: "only artifacts at the top are told", want: "ArtifactsFound",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				res.Artifacts = slices.DeleteFunc(res.Artifacts, func(a codeinterp.Artifact) bool { return strings.Contains(a.Path, "/") })
			}),
		},
		{
			name: "artifacts have no directories", want: "ArtifactsFound",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Artifacts {
					res.Artifacts[i].Path = path.Base(res.Artifacts[i].Path)
				}
			}),
		},
		{
			name: "what was given is never an artifact", want: "ArtifactsFound",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if o.Files != nil {
					r.Result.Artifacts = slices.DeleteFunc(r.Result.Artifacts, func(a codeinterp.Artifact) bool {
						_, err := fs.Stat(o.Files, a.Path)
						return err == nil
					})
				}
				return r, err
			}),
		},
		{
			name: "who failed has made nothing", want: "ArtifactsAtTimeout",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusError {
					res.Artifacts = nil
				}
			}),
		},
		{
			name: "artifacts are told since somebody asked", want: "ArtifactsChanged",
			wrap: calls(func() handler {
				var mu sync.Mutex
				held := map[codeinterp.ContextID][]codeinterp.Artifact{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if c.Op != codeinterp.OpRunIn {
						return next(ctx, c)
					}
					var o codeinterp.RunOptions
					if c.Run != nil {
						o = *c.Run
					}
					asked := o.Artifacts
					o.Artifacts = true
					c.Run = &o
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					if !asked {
						held[c.Context] = append(held[c.Context], r.Result.Artifacts...)
						r.Result.Artifacts = nil
					} else {
						r.Result.Artifacts = append(r.Result.Artifacts, held[c.Context]...)
						held[c.Context] = nil
					}
					return r, err
				}
			}),
		},
		{
			name: "artifacts are not sorted", want: "ArtifactsFound",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) { slices.Reverse(res.Artifacts) }),
		},
		{
			name: "what is appended replaces the beginning", want: "FilesWritten",
			wrap: opens(func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
				return f.OpenFile(name, flag&^os.O_APPEND, perm)
			}),
		},
		{
			name: "what must not be there may be", want: "FilesWritten",
			wrap: opens(func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
				return f.OpenFile(name, flag&^os.O_EXCL, perm)
			}),
		},
		{
			name: "a file that is replaced keeps its end", want: "FilesWritten",
			wrap: opens(func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
				if _, err := f.Stat(name); err == nil && name != "toolcell-moved.txt" && name != "toolcell-last.txt" {
					flag &^= os.O_TRUNC
				}
				return f.OpenFile(name, flag, perm)
			}),
		},
		{
			name: "what is written is there after Close", want: "FilesWritten",
			wrap: opens(func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
				g, err := f.OpenFile(name, flag, perm)
				if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 || name == "toolcell-end.txt" {
					return g, err
				}
				return &lazyFile{File: g}, nil
			}),
		},
		{
			name: "files have no size", want: "FilesWritten",
			wrap: directoriesOf(func(f codeinterp.FS) codeinterp.FS { return sizeFS{f} }),
		},
		{
			name: "all is removed with the directory", want: "FilesTree",
			wrap: directoriesOf(func(f codeinterp.FS) codeinterp.FS { return removingFS{f} }),
		},
		{
			name: "files outlive Close", want: "FilesClosed",
			wrap: directoriesOf(func(f codeinterp.FS) codeinterp.FS { return outlivingFS{f} }),
		},
		{
			name: "files are opened whatever ctx does", want: "FilesEnd",
			wrap: deafTo(codeinterp.OpFiles),
		},
	}
}

// A lazyFile writes when it is closed.
type lazyFile struct {
	codeinterp.File
	held []byte
}

func (l *lazyFile) Write(b []byte) (int, error) {
	l.held = append(l.held, b...)
	return len(b), nil
}

func (l *lazyFile) Close() error {
	_, err := l.File.Write(l.held)
	return errors.Join(err, l.File.Close())
}

// A removingFS removes what is in the directory itself.
type removingFS struct{ codeinterp.FS }

func (r removingFS) RemoveAll(name string) error {
	if name == "." {
		list, _ := r.FS.ReadDir(".")
		for _, d := range list {
			_ = r.FS.RemoveAll(d.Name())
		}
		return nil
	}
	return r.FS.RemoveAll(name)
}

// An outlivingFS does not mind that the interpreter is closed.
type outlivingFS struct{ codeinterp.FS }

func (c outlivingFS) Stat(name string) (fs.FileInfo, error) {
	i, err := c.FS.Stat(name)
	if errors.Is(err, codeinterp.ErrClosed) {
		return nil, nil
	}
	return i, err
}

// A sizeFS tells no sizes.
type sizeFS struct{ codeinterp.FS }

type zeroInfo struct{ fs.FileInfo }

func (zeroInfo) Size() int64 { return 0 }

func (c sizeFS) Stat(name string) (fs.FileInfo, error) {
	i, err := c.FS.Stat(name)
	if err == nil {
		i = zeroInfo{i}
	}
	return i, err
}

// directoriesOf returns a fault in what OpenFiles returns.
func directoriesOf(change func(codeinterp.FS) codeinterp.FS) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if dir, ok := r.Value.(codeinterp.FS); ok && err == nil {
			r.Value = change(dir)
		}
		return r, err
	})
}

// An openFS opens files in its own way.
type openFS struct {
	codeinterp.FS
	open func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error)
}

func (o openFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	return o.open(o.FS, name, flag, perm)
}

// opens returns a fault in the way files are opened.
func opens(open func(f codeinterp.FS, name string, flag int, perm fs.FileMode) (codeinterp.File, error)) wrapper {
	return directoriesOf(func(f codeinterp.FS) codeinterp.FS { return openFS{f, open} })
}

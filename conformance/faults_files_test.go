package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A brokenFS is the directory of a context with a fault.
type brokenFS struct {
	codeinterp.FS
	open func(codeinterp.FS, string) (fs.File, error)
	bad  func(error) error // what becomes of an error
}

func (b brokenFS) Open(name string) (fs.File, error) {
	if b.open != nil {
		return b.open(b.FS, name)
	}
	return b.FS.Open(name)
}

func (b brokenFS) Stat(name string) (fs.FileInfo, error) {
	info, err := b.FS.Stat(name)
	if err != nil && b.bad != nil {
		err = b.bad(err)
	}
	return info, err
}

func (b brokenFS) Mkdir(name string, perm fs.FileMode) error {
	err := b.FS.Mkdir(name, perm)
	if err != nil && b.bad != nil {
		err = b.bad(err)
	}
	return err
}

// unfiled has all but OpenFiles.
type unfiled struct {
	codeinterp.StatefulInterpreter
	codeinterp.ContextManager
	codeinterp.Describer
	codeinterp.Completer
}

// directories returns a fault in what OpenFiles returns.
func directories(broken brokenFS) wrapper {
	return call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
		r, err := next(ctx, c)
		if dir, ok := r.Value.(codeinterp.FS); ok && err == nil {
			b := broken
			b.FS = dir
			r.Value = b
		}
		return r, err
	})
}

// directory opens that of the call's context.
func directory(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) codeinterp.FS {
	r, _ := next(ctx, codeinterp.Call{Op: codeinterp.OpFiles, Context: c.Context})
	dir, _ := r.Value.(codeinterp.FS)
	return dir
}

func fileFaults() []fault {
	return []fault{
		{
			name: "Describe knows of files that nobody can open", want: "FilesTold",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				s, _ := codeinterp.Stateful(ci)
				m, _ := codeinterp.Manager(ci)
				return unfiled{s, m, ci.(codeinterp.Describer), undescribedOf(ci).Completer}
			},
		},
		{
			name: "a language says that it has files, and they do not open", want: "LanguageFiles", also: "FilesShared FilesDuringRun FilesFaults FilesRenamed FilesLinks FilesSpecial FilesNotUTF8 FilesStay FilesEnd FilesClosed FilesWritten FilesTree",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				if c.Op == codeinterp.OpFiles {
					return codeinterp.Reply{}, &codeinterp.Error{Op: "open files", Err: codeinterp.ErrUnavailable}
				}
				return next(ctx, c)
			}),
		},
		{
			name: "a language says that it has no files, and they open", want: "LanguageFiles", also: "FilesRefused",
			wrap: func(ci codeinterp.CodeInterpreter) codeinterp.CodeInterpreter {
				return speaking{described{undescribedOf(ci), func() codeinterp.Info {
					info := codeinterp.Describe(ci)
					info.Languages = append([]codeinterp.LanguageInfo{{Name: "another", Contexts: true, Files: true}}, info.Languages...)
					info.Languages[1].Files = false
					return info
				}}, func() []string { return append([]string{"another"}, ci.Languages()...) }}
			},
			suite: func(s *suite) { s.languages = []string{"toy"} },
		},
		{
			name: "files are taken where there are none", want: "FilesRefused", also: "FilesTold LanguageFiles",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if info, ok := r.Value.(codeinterp.Info); ok {
					info.Files = false
					r.Value = info
				}
				return r, err
			}),
		},
		{
			name: "only files at the top are copied", want: "InputsFound", also: "ArtifactsFound",
			wrap: options(func(_ codeinterp.Call, o *codeinterp.RunOptions) {
				if o.Files != nil {
					if list, _ := fs.ReadDir(o.Files, "."); slices.ContainsFunc(list, fs.DirEntry.IsDir) {
						o.Files = nil
					}
				}
			}),
		},
		{
			name: "a file that is there stays", want: "InputsReplace",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				if uses(c, `read "toolcell-same`) {
					o.Files = nil
				}
				return next(ctx, c)
			}),
		},
		{
			name: "what can be copied is", want: "InputsWhole",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if err != nil && o.Files != nil && errors.Is(err, codeinterp.ErrSpecial) {
					if text, e := fs.ReadFile(o.Files, "toolcell-half.txt"); e == nil {
						_ = codeinterp.WriteFile(directory(ctx, c, next), "toolcell-half.txt", strings.NewReader(string(text)), 0o644)
					}
				}
				return r, err
			}),
		},
		{
			name: "contexts get no files", want: "ContextInputs",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.NewContext == nil || c.NewContext.Files == nil || err != nil {
					return r, err
				}
				_, _ = next(ctx, codeinterp.Call{Op: codeinterp.OpDelete, Context: r.Context})
				o := *c.NewContext
				o.Files = nil
				c.NewContext = &o
				return next(ctx, c)
			}),
		},
		{
			name: "what programs make is not seen", want: "FilesShared",
			wrap: directories(brokenFS{open: func(dir codeinterp.FS, name string) (fs.File, error) {
				if strings.HasSuffix(name, "made.txt") {
					return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
				}
				return dir.Open(name)
			}}),
		},
		{
			name: "what a program writes is seen when its run is over", want: "FilesDuringRun",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var busy atomic.Bool
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					if uses(c, `write "toolcell-live`) {
						busy.Store(true)
						defer busy.Store(false)
					}
					r, err := next(ctx, c)
					if dir, ok := r.Value.(codeinterp.FS); ok && busy.Load() {
						r.Value = brokenFS{FS: dir, open: func(_ codeinterp.FS, name string) (fs.File, error) {
							return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
						}}
					}
					return r, err
				}
			}),
		},
		{
			name: "OpenFiles waits for the run", want: "FilesDuringRun",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var run sync.RWMutex
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					switch {
					case uses(c, `write "toolcell-live`):
						run.Lock()
						defer run.Unlock()
					case c.Op == codeinterp.OpFiles:
						for !run.TryRLock() {
							select {
							case <-ctx.Done():
								return codeinterp.Reply{}, toyErr("open files", context.Cause(ctx))
							case <-time.After(time.Second):
							}
						}
						run.RUnlock()
					}
					return next(ctx, c)
				}
			}),
		},
		{
			name: "a context is there without its files", want: "ContextInputsWhole",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if c.NewContext != nil && c.NewContext.Files != nil && err != nil {
					o := *c.NewContext
					o.Files = nil
					c.NewContext = &o
					_, _ = next(ctx, c)
				}
				return r, err
			}),
		},
		{
			name: "errors are the system's own", want: "FilesFaults",
			wrap: directories(brokenFS{bad: func(err error) error {
				if errors.Is(err, fs.ErrExist) {
					err = errors.New("mkdir: EEXIST")
				}
				return err
			}}),
		},
		{
			name: "a restart removes files", want: "FilesStay",
			wrap: call(func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if dir := codeinterp.FS(nil); c.Op == codeinterp.OpRestart && err == nil {
					if dir = directory(ctx, c, next); dir != nil {
						_ = dir.RemoveAll("toolcell-stay.txt")
					}
				}
				return r, err
			}),
		},
		{
			name: "a context that is gone has lost its files", want: "FilesEnd",
			wrap: directories(brokenFS{bad: func(err error) error {
				if errors.Is(err, codeinterp.ErrContext) {
					err = fs.ErrNotExist
				}
				return err
			}}),
		},
	}
}

func artifactFaults() []fault {
	return []fault{
		{
			name: "what was given is an artifact", want: "ArtifactsFound",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if o.Files != nil && o.Artifacts {
					r.Result.Artifacts = append(r.Result.Artifacts, codeinterp.Artifact{Path: "toolcell-dir/given.txt"})
				}
				return r, err
			}),
		},
		{
			name: "the hash is of something else", want: "ArtifactsFound", also: "ArtifactsChanged ArtifactsAtTimeout FilesRenamed FilesLinks FilesSpecial",
			wrap: results(func(_ codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Artifacts {
					res.Artifacts[i].SHA256 = strings.Repeat("0", 64)
				}
			}),
		},
		{
			name: "only another size is a change", want: "ArtifactsChanged",
			wrap: calls(func() func(context.Context, codeinterp.Call, codeinterp.Handler) (codeinterp.Reply, error) {
				var mu sync.Mutex
				sizes := map[string]int64{}
				return func(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (codeinterp.Reply, error) {
					r, err := next(ctx, c)
					mu.Lock()
					defer mu.Unlock()
					now := maps.Clone(sizes)
					r.Result.Artifacts = slices.DeleteFunc(r.Result.Artifacts, func(a codeinterp.Artifact) bool {
						name := fmt.Sprint(c.Context, " ", a.Path)
						size, known := sizes[name]
						now[name] = a.Size
						return c.Op == codeinterp.OpRunIn && known && size == a.Size && strings.Contains(a.Path, "changed")
					})
					sizes = now
					return r, err
				}
			}),
		},
		{
			name: "a file that was read has changed", want: "ArtifactsChanged",
			wrap: runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
				r, err := next(ctx, c)
				if uses(c, `read "toolcell-changed`) && o.Artifacts {
					r.Result.Artifacts = append(r.Result.Artifacts, codeinterp.Artifact{Path: "toolcell-changed.txt"})
				}
				return r, err
			}),
		},
		{
			name: "the content is gone with its run", want: "ArtifactsData",
			wrap: results(func(_ codeinterp.Call, res *codeinterp.Result) {
				for i := range res.Artifacts {
					res.Artifacts[i].Data = nil
				}
			}),
		},
		{
			name: "artifacts are always looked for", want: "ArtifactsUnasked",
			wrap: options(func(_ codeinterp.Call, o *codeinterp.RunOptions) { o.Artifacts = true }),
		},
		{
			name: "who was stopped has made nothing", want: "ArtifactsAtTimeout",
			wrap: results(func(_ codeinterp.Call, res *codeinterp.Result) {
				if res.Status == codeinterp.StatusTimeout {
					res.Artifacts = nil
				}
			}),
		},
	}
}

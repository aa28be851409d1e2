package conformance

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// An oddFS is the directory of a context in which what is odd goes wrong.
type oddFS struct {
	codeinterp.FS
	special func(error) error                                 // opening what is no file
	outside func(fsys codeinterp.FS) (codeinterp.File, error) // and what is outside
	rename  func(fsys codeinterp.FS, from, to string) error
	hidden  func(name string) bool // from lists
}

func (o oddFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	f, err := o.FS.OpenFile(name, flag, perm)
	switch {
	case errors.Is(err, codeinterp.ErrSpecial) && o.special != nil:
		return f, o.special(err)
	case errors.Is(err, codeinterp.ErrOutside) && o.outside != nil:
		return o.outside(o.FS)
	}
	return f, err
}

func (o oddFS) Rename(from, to string) error {
	if o.rename != nil && fs.ValidPath(to) {
		return o.rename(o.FS, from, to)
	}
	return o.FS.Rename(from, to)
}

func (o oddFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := o.FS.ReadDir(name)
	return slices.DeleteFunc(list, func(d fs.DirEntry) bool { return o.hidden != nil && o.hidden(d.Name()) }), err
}

// oddDirectories returns a fault in what OpenFiles returns.
func oddDirectories(broken oddFS) wrapper {
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

func oddFileFaults() []fault {
	return []fault{
		{
			name: "a rename is a copy", want: "FilesRenamed",
			wrap: oddDirectories(oddFS{rename: func(fsys codeinterp.FS, from, to string) error {
				f, err := fsys.Open(from)
				if err != nil {
					return err
				}
				defer f.Close()
				return codeinterp.WriteFile(fsys, to, f, 0o644)
			}}),
		},
		{
			name: "what has another name has changed under the old one too", want: "FilesRenamed",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				if uses(c, "rename ") && len(res.Artifacts) > 0 {
					res.Artifacts = append(res.Artifacts, codeinterp.Artifact{Path: "toolcell-moved.txt"})
				}
			}),
		},
		{
			name: "who follows a link out finds a file", want: "FilesLinks",
			wrap: oddDirectories(oddFS{outside: func(fsys codeinterp.FS) (codeinterp.File, error) {
				return fsys.OpenFile("toolcell-file.txt", os.O_RDONLY, 0)
			}}),
		},
		{
			name: "the file behind a link is the artifact", want: "FilesLinks",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i, a := range res.Artifacts {
					if a.Skipped == "symbolic link" {
						res.Artifacts[i].Skipped, res.Artifacts[i].SHA256 = "", strings.Repeat("0", 64)
					}
				}
			}),
		},
		{
			name: "a FIFO that cannot be opened is not there", want: "FilesSpecial",
			wrap: oddDirectories(oddFS{special: func(error) error { return fs.ErrNotExist }}),
		},
		{
			name: "a FIFO is no artifact", want: "FilesSpecial",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				res.Artifacts = slices.DeleteFunc(res.Artifacts, func(a codeinterp.Artifact) bool { return a.Skipped == "FIFO" })
			}),
		},
		{
			name: "names are made text", want: "FilesNotUTF8",
			wrap: results(func(c codeinterp.Call, res *codeinterp.Result) {
				for i, a := range res.Artifacts {
					if a.Escaped {
						res.Artifacts[i].Path, res.Artifacts[i].Escaped = strings.ReplaceAll(a.Path, `\xff`, "\uFFFD"), false
					}
				}
			}),
		},
		{
			name: "names that are no text are left out", want: "FilesNotUTF8",
			wrap: oddDirectories(oddFS{hidden: func(name string) bool { return !fs.ValidPath(name) }}),
		},
	}
}

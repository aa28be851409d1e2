package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// fileOpChecks are about what is done by the methods of an FS. They concern
// providers whose contexts' files can be opened.
func fileOpChecks() []check {
	return []check{
		{
			name:   "FilesWritten",
			clause: "OpenFile opens as os.OpenFile does, and what was written is there when Write returns",
			scope:  stateful,
			run:    opening(filesWritten),
		},
		{
			name:   "FilesTree",
			clause: "directories are made and listed, sorted, and removed: by Remove where they are empty, with all that is in them by RemoveAll, but never the context's own",
			scope:  stateful,
			run:    opening(filesTree),
		},
		{
			name:   "FilesClosed",
			clause: "a context's files fail with ErrClosed once the interpreter is closed",
			scope:  stateful,
			own:    true,
			run: opening(func(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
				if err := e.ci.Close(); err != nil {
					return err
				}
				_, stat := dir.Stat(".")
				files, _ := codeinterp.Files(e.ci)
				_, open := files.OpenFiles(ctx, id)
				for what, err := range map[string]error{"Stat": stat, "OpenFiles": open} {
					if !errors.Is(err, codeinterp.ErrClosed) {
						return fmt.Errorf("%s after Close: error %v, want one that is %q", what, err, codeinterp.ErrClosed)
					}
				}
				return nil
			}),
		},
	}
}

func filesWritten(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const path = "toolcell-written.txt"
	f, err := dir.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	content := func(what, want string) error {
		got, err := fs.ReadFile(dir, path)
		info, statErr := dir.Stat(path)
		if err := errors.Join(err, statErr, wantText("the file "+what, string(got), want)); err != nil {
			return err
		}
		if info.Size() != int64(len(want)) || !info.Mode().IsRegular() {
			return fmt.Errorf("Stat tells of %d bytes and the mode %v, want a file of %d", info.Size(), info.Mode(), len(want))
		}
		return nil
	}
	_, err = io.WriteString(f, SplitText)
	if err := errors.Join(err, content("that is still open", SplitText)); err != nil {
		return err
	}
	for _, step := range []struct {
		flag       int
		text, want string
	}{
		{os.O_WRONLY | os.O_APPEND, "more", SplitText + "more"},
		{os.O_WRONLY, "A", "A" + SplitText[1:] + "more"},
		{os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "new", "new"},
	} {
		if err := errors.Join(appended(dir, path, step.flag, step.text), content(fmt.Sprintf("opened with %#x", step.flag), step.want)); err != nil {
			return err
		}
	}
	if err := opened(dir, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL); !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("O_EXCL for a file that is there: error %v, want one that is %q", err, fs.ErrExist)
	}
	return nil
}

// appended opens a file, writes and closes it.
func appended(dir codeinterp.FS, path string, flag int, text string) error {
	f, err := dir.OpenFile(path, flag, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

func filesTree(_ context.Context, _ *env, _ codeinterp.ContextID, dir codeinterp.FS) error {
	const top = "toolcell-tree"
	err := dir.MkdirAll(top+"/b/deep", 0o755)
	for _, name := range []string{"/c.txt", "/a.txt", "/b/deep/x.txt"} {
		err = errors.Join(err, codeinterp.WriteFile(dir, top+name, strings.NewReader(name), 0o644))
	}
	list, listErr := dir.ReadDir(top)
	if err := errors.Join(err, listErr, dir.MkdirAll(top+"/b", 0o755)); err != nil {
		return err
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	if want := []string{"a.txt", "b", "c.txt"}; !slices.Equal(names, want) {
		return fmt.Errorf("the directory has %q, want %q", names, want)
	}
	for what, tt := range map[string]struct{ err, want error }{
		"removing a directory with files":  {dir.Remove(top), codeinterp.ErrNotEmpty},
		"removing the context's directory": {dir.RemoveAll("."), fs.ErrInvalid},
		"listing a file":                   {listed(dir, top+"/a.txt"), codeinterp.ErrNotDir},
		"moving a file over a directory":   {dir.Rename(top+"/a.txt", top+"/b"), nil},
	} {
		if tt.err == nil || tt.want != nil && !errors.Is(tt.err, tt.want) {
			return fmt.Errorf("%s: error %v, want one that is %q", what, tt.err, tt.want)
		}
	}
	if err := errors.Join(dir.RemoveAll(top), dir.RemoveAll(top)); err != nil {
		return fmt.Errorf("RemoveAll, twice: %w", err)
	}
	if _, err := dir.Stat(top); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("Stat after RemoveAll: error %v, want one that is %q", err, fs.ErrNotExist)
	}
	return nil
}

func listed(dir codeinterp.FS, name string) error {
	_, err := dir.ReadDir(name)
	return err
}

package conformance

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// oddFileChecks are about what else than files and directories programs make, and
// what else than text its name may be. They concern providers whose contexts'
// files can be opened.
func oddFileChecks() []check {
	return []check{
		{
			name:   "FilesRenamed",
			clause: "a context's programs and OpenFiles see what the other renames, also over a file; Artifacts has the new name alone",
			scope:  stateful,
			uses:   func(p *Programs) bool { return withFiles(p) && p.Rename != nil },
			run:    odd(filesRenamed),
		},
		{
			name:   "FilesLinks",
			clause: "OpenFiles follows a link within the directory, and fails with ErrOutside where it leads out; Lstat and Artifacts tell of the link itself",
			scope:  stateful,
			uses:   func(p *Programs) bool { return withFiles(p) && p.Symlink != nil },
			run:    odd(filesLinks),
		},
		{
			name:   "FilesSpecial",
			clause: "FIFOs, sockets and devices are told by Lstat, are ErrSpecial at once to who opens them, and are skipped by Artifacts with a reason",
			scope:  stateful,
			uses:   func(p *Programs) bool { return p.Special != nil },
			run:    odd(filesSpecial),
		},
		{
			name:   "FilesNotUTF8",
			clause: "a file whose name is not UTF-8 is listed by it, and is Escaped in Artifacts",
			scope:  stateful,
			uses:   func(p *Programs) bool { return p.WriteNamed != nil },
			run:    odd(filesNotUTF8),
		},
	}
}

// odd makes a check one of providers whose contexts' files can be opened, and
// gives it a context that it may share, with its directory.
func odd(run func(context.Context, *env, codeinterp.ContextID, codeinterp.FS) error) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		files, ok := codeinterp.Files(e.ci)
		if !ok || !e.files() {
			return nil
		}
		id, err := e.some(ctx)
		if err != nil {
			return err
		}
		dir, err := files.OpenFiles(ctx, id)
		if err != nil {
			return fmt.Errorf("OpenFiles: %w", err)
		}
		return run(ctx, e, id, dir)
	}
}

// making runs code that makes files, and wants it to end normally.
func (e *env) making(ctx context.Context, id codeinterp.ContextID, code string) (codeinterp.Result, error) {
	res, err := e.runIn(ctx, id, code, &codeinterp.RunOptions{Artifacts: true})
	if err = wantOK(res, err); err != nil {
		err = fmt.Errorf("running %s: %w", quote(code), err)
	}
	return res, err
}

func filesRenamed(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const given, moved, last = "toolcell-given.txt", "toolcell-moved.txt", "toolcell-last.txt"
	for path, text := range map[string]string{given: SplitText, moved: "replaced", last: "replaced too"} {
		if err := codeinterp.WriteFile(dir, path, strings.NewReader(text), 0o644); err != nil {
			return err
		}
	}
	if err := dir.Rename(given, moved); err != nil {
		return fmt.Errorf("Rename: %w", err)
	}
	res, err := e.making(ctx, id, lines(e.p.ReadFile(moved), e.p.Rename(moved, last)))
	if err := errors.Join(err, wantText("what the program reads", res.Stdout(), SplitText)); err != nil {
		return err
	}
	for _, path := range []string{given, moved} {
		if _, err := dir.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s, which was renamed: error %v, want one that is %q", path, err, fs.ErrNotExist)
		}
		if _, listed := artifact(res, path); listed {
			return fmt.Errorf("Artifacts lists %s, which was renamed", path)
		}
	}
	got, err := fs.ReadFile(dir, last)
	return errors.Join(err, wantText(last, string(got), SplitText), wantArtifact(res, last, SplitText), dir.Remove(last))
}

// made reports whether a program made something of a type.
func made(dir codeinterp.FS, path string, want func(fs.FileMode) bool) (bool, error) {
	info, err := dir.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !want(info.Mode()):
		return false, fmt.Errorf("Lstat tells the mode %v of %s", info.Mode(), path)
	}
	return true, nil
}

func filesLinks(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const file, inner, above, root = "toolcell-file.txt", "toolcell-inner", "toolcell-above", "toolcell-root"
	res, err := e.making(ctx, id, lines(e.p.WriteFile(file, SplitText), e.p.Symlink(file, inner), e.p.Symlink("../..", above), e.p.Symlink("/etc", root)))
	if err != nil {
		return err
	}
	for _, path := range []string{inner, above, root} {
		// Where a language has none, it makes none.
		if is, err := made(dir, path, func(m fs.FileMode) bool { return m.Type() == fs.ModeSymlink }); err != nil || !is {
			return err
		}
		if a, listed := artifact(res, path); !listed || a.Skipped == "" || a.SHA256 != "" || a.Data != nil {
			return fmt.Errorf("the artifact is %+v, want one that is skipped", a)
		}
	}
	got, err := fs.ReadFile(dir, inner)
	if err := errors.Join(err, wantText(inner, string(got), SplitText)); err != nil {
		return err
	}
	for _, path := range []string{above, root, above + "/x", root + "/passwd"} {
		for what, err := range leading(dir, path) {
			if !errors.Is(err, codeinterp.ErrOutside) {
				return fmt.Errorf("%s of %s, which leads out: error %v, want one that is %q", what, path, err, codeinterp.ErrOutside)
			}
		}
	}
	var errs []error
	for _, path := range []string{inner, above, root, file} {
		errs = append(errs, dir.Remove(path))
	}
	return errors.Join(errs...)
}

// leading uses a path that leads out of a directory.
func leading(dir codeinterp.FS, path string) map[string]error {
	_, stat := dir.Stat(path)
	_, list := dir.ReadDir(path)
	errs := map[string]error{"Stat": stat, "ReadDir": list, "OpenFile": opened(dir, path, os.O_RDONLY)}
	if strings.Contains(path, "/x") {
		errs["OpenFile"], errs["Mkdir"] = opened(dir, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL), dir.Mkdir(path, 0o755)
	}
	return errs
}

// opened opens a file and closes it.
func opened(dir codeinterp.FS, path string, flag int) error {
	f, err := dir.OpenFile(path, flag, 0o644)
	if err == nil {
		err = f.Close()
	}
	return err
}

func filesSpecial(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const path = "toolcell-special"
	kinds := map[string]fs.FileMode{"fifo": fs.ModeNamedPipe, "socket": fs.ModeSocket, "device": fs.ModeCharDevice}
	res, err := e.making(ctx, id, e.p.Special(path))
	if err != nil {
		return err
	}
	for kind, mode := range kinds {
		path := path + "." + kind
		is, err := made(dir, path, func(m fs.FileMode) bool { return m&mode != 0 })
		if err != nil {
			return err
		}
		if !is {
			continue // not every program may make everything
		}
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_TRUNC, os.O_RDWR} {
			if err := opened(dir, path, flag); !errors.Is(err, codeinterp.ErrSpecial) {
				return fmt.Errorf("opening a %s: error %v, want one that is %q", kind, err, codeinterp.ErrSpecial)
			}
		}
		if a, listed := artifact(res, path); !listed || a.Skipped == "" || a.SHA256 != "" {
			return fmt.Errorf("the artifact is %+v, want one that is skipped", a)
		}
		if err := dir.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func filesNotUTF8(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const given = "toolcell-\xff.txt"
	res, err := e.making(ctx, id, e.p.WriteNamed(given, SplitText))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(res.Artifacts, func(a codeinterp.Artifact) bool { return strings.HasPrefix(a.Path, "toolcell-") })
	if i < 0 {
		return fmt.Errorf("Artifacts are %+v, without %q", res.Artifacts, given)
	}
	a, name := res.Artifacts[i], ""
	if a.Escaped {
		name, err = strconv.Unquote(`"` + a.Path + `"`)
	} else if name = a.Path; name != given {
		// The runtime has made text of it, which is the file's name then.
		err = opened(dir, name, os.O_RDONLY)
	}
	if err != nil || a.Escaped && name != given || !utf8.ValidString(a.Path) {
		return fmt.Errorf("the artifact of %q is %q, Escaped %v: %v", given, a.Path, a.Escaped, err)
	}
	list, err := dir.ReadDir(".")
	if err == nil && !slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == name }) {
		err = fmt.Errorf("the directory has %v, want %q too", list, name)
	}
	return err
}

// bytesOf are the bytes of a name in hexadecimal.
func bytesOf(name string) string { return hex.EncodeToString([]byte(name)) }

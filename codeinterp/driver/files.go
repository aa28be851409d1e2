package driver

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Filer is a Runtime whose sessions have a directory of files: contexts have
// OpenFiles, ContextOptions.Files and RunOptions.Files are accepted, and artifacts are
// found. If Describe sets LanguageInfo.Files of some languages, it holds for these,
// otherwise for all.
// Session.Run calls [Program.CopyFiles] before the program begins. If
// [Program.Artifacts] is set, it calls [Program.Taken] after the program has ended and
// its output was written, and returns Outcome.Artifacts and Outcome.Missing, soon
// after the run was stopped.
// Files survive Reset. After Close they are gone, or left to their owner.
type Filer interface {
	// Files returns the directory in which the programs of s start. It is cheap and
	// may be called from any goroutine between Start and Close, during Run too.
	// After Close every operation of the FS fails.
	Files(s Session) (codeinterp.FS, error)
}

// A contextFiles is the ContextFiles of an interpreter whose runtime is a Filer.
// Stateful itself cannot implement it, since other runtimes have no files.
type contextFiles struct {
	*Stateful
	rt Filer
}

// OpenFiles implements codeinterp.ContextFiles.
func (i contextFiles) OpenFiles(ctx context.Context, id codeinterp.ContextID) (fsys codeinterp.FS, err error) {
	defer i.wrap(ctx, codeinterp.OpFiles, &err)
	s, err := i.find(ctx, id)
	if err == nil {
		err = i.checkAbilities(s.opts.Language, &codeinterp.RunOptions{Artifacts: true})
	}
	if err != nil {
		return nil, err
	}
	f := contextFS{s, i.rt}
	if _, err := f.current(); err != nil {
		return nil, err
	}
	return f, nil
}

// A contextFS is the directory of a context's current session, until the context ends.
type contextFS struct {
	s  *slot
	rt Filer
}

var _ codeinterp.FS = contextFS{}

// checkFilesOpen returns why the context's files cannot be used any more, if so. Their
// use keeps the context from being idle.
func (s *slot) checkFilesOpen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
	return s.ended
}

func (f contextFS) current() (dir codeinterp.FS, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	if err := f.s.checkFilesOpen(); err != nil {
		return nil, err
	}
	f.s.mu.Lock()
	session := f.s.session
	f.s.mu.Unlock()
	if session == nil {
		return nil, errNoSession
	}
	return f.rt.Files(session)
}

// at calls do with the directory. If the context has ended meanwhile, its end is the
// error.
func at[T any](f contextFS, op, name string, do func(codeinterp.FS) (T, error)) (t T, err error) {
	if !fs.ValidPath(name) {
		return t, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	fsys, err := f.current()
	if err == nil {
		t, err = do(fsys)
	}
	if ended := f.s.checkFilesOpen(); err != nil && ended != nil {
		err = ended
	}
	if p := (*fs.PathError)(nil); err != nil && !errors.As(err, &p) {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return t, err
}

func (f contextFS) Open(name string) (fs.File, error) {
	return at(f, "open", name, func(d codeinterp.FS) (fs.File, error) { return d.Open(name) })
}

func (f contextFS) Stat(name string) (fs.FileInfo, error) {
	return at(f, "stat", name, func(d codeinterp.FS) (fs.FileInfo, error) { return d.Stat(name) })
}

func (f contextFS) Lstat(name string) (fs.FileInfo, error) {
	return at(f, "lstat", name, func(d codeinterp.FS) (fs.FileInfo, error) { return d.Lstat(name) })
}

func (f contextFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return at(f, "readdir", name, func(d codeinterp.FS) ([]fs.DirEntry, error) { return d.ReadDir(name) })
}

func (f contextFS) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	return at(f, "open", name, func(d codeinterp.FS) (codeinterp.File, error) { return d.OpenFile(name, flag, perm) })
}

func (f contextFS) Mkdir(name string, perm fs.FileMode) error {
	return f.do("mkdir", name, func(d codeinterp.FS) error { return d.Mkdir(name, perm) })
}

func (f contextFS) MkdirAll(name string, perm fs.FileMode) error {
	return f.do("mkdir", name, func(d codeinterp.FS) error { return d.MkdirAll(name, perm) })
}

func (f contextFS) Remove(name string) error {
	return f.do("remove", name, func(d codeinterp.FS) error { return d.Remove(name) })
}

func (f contextFS) RemoveAll(name string) error {
	return f.do("remove", name, func(d codeinterp.FS) error { return d.RemoveAll(name) })
}

func (f contextFS) Rename(from, to string) error {
	if !fs.ValidPath(to) {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrInvalid}
	}
	return f.do("rename", from, func(d codeinterp.FS) error { return d.Rename(from, to) })
}

func (f contextFS) do(op, name string, do func(codeinterp.FS) error) error {
	_, err := at(f, op, name, func(d codeinterp.FS) (none, error) { return none{}, do(d) })
	return err
}

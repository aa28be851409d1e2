package codeinterp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ContextFiles opens the files of the contexts of a [StatefulInterpreter]. It
// is an optional group; see [Files].
type ContextFiles interface {
	// OpenFiles returns the directory in which the context's programs start.
	// It is that of the context, not of one state of it: it stays open over
	// restarts, and while programs run, who see at once what is written. Once
	// the context is deleted or the interpreter closed, its methods fail with
	// ErrContext or ErrClosed. OpenFiles may be called from OnOutput, and
	// waits for no run. ctx bounds the call, not the use of the FS.
	OpenFiles(ctx context.Context, id ContextID) (FS, error)
}

// Files returns the ContextFiles of ci, if ci has contexts and their files can
// be reached.
func Files(ci CodeInterpreter) (ContextFiles, bool) { return filers.find(ci) }

var filers = group[ContextFiles]{
	contexts: true,
	handle:   func(h Handler) ContextFiles { return filesHandler(h) },
}

// OpFiles is OpenFiles; its Reply's Value is an [FS]. It changes the context,
// since what is done with the FS goes through no middleware.
var OpFiles = filers.op("open files", 0, serveFiles)

func serveFiles(ctx context.Context, f ContextFiles, c Call) (r Reply, err error) {
	fsys, err := f.OpenFiles(ctx, c.Context)
	if err == nil {
		r.Value = fsys
	}
	return r, err
}

// filesHandler is a ContextFiles whose calls go to a handler.
type filesHandler Handler

func (h filesHandler) OpenFiles(ctx context.Context, id ContextID) (FS, error) {
	r, err := h(ctx, Call{Op: OpFiles, Context: id})
	fsys, ok := r.Value.(FS)
	if err == nil && !ok {
		err = fmt.Errorf("%w: a middleware answered %q without files", ErrUnavailable, OpFiles)
	}
	return fsys, err
}

// An FS is a directory of files to read and to change. Names are those of
// [fs.ValidPath]: relative to the directory, with slashes, "." for the
// directory itself, no "..". Its methods are safe for concurrent use, and
// whatever programs do to the files meanwhile, none of them leads out of the
// directory: a symbolic link is followed where it leads to within it, and is
// ErrOutside where not.
//
// An error is an [fs.PathError] that wraps what its methods have in common in
// every provider: fs.ErrInvalid for a malformed name, fs.ErrNotExist,
// fs.ErrExist, fs.ErrPermission, ErrIsDir, ErrNotDir, ErrNotEmpty, ErrOutside,
// ErrSpecial, ErrTooLarge, ErrQuota; or ErrContext, ErrClosed or
// ErrUnavailable where the directory itself is gone or cannot be reached.
type FS interface {
	// Open opens a file or directory for reading. A directory's File is an
	// [fs.ReadDirFile].
	fs.FS

	// Stat describes a file or directory, that to which a link leads.
	fs.StatFS

	// ReadDir lists a directory, sorted by name. Names that are not UTF-8 are
	// in it as they are, and are no names for the other methods.
	fs.ReadDirFS

	// Lstat is Stat, but describes a symbolic link itself.
	Lstat(name string) (fs.FileInfo, error)

	// OpenFile opens a file as os.OpenFile does, with O_RDONLY, O_WRONLY or
	// O_RDWR and any of O_APPEND, O_CREATE, O_EXCL and O_TRUNC; perm is for a
	// file that is created. A directory is ErrIsDir. It never blocks: what is
	// neither a regular file nor a directory is ErrSpecial.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Mkdir creates a directory, MkdirAll also those above it, and is content
	// with one that is there.
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error

	// Remove removes a file, a link or an empty directory; RemoveAll also one
	// with all that is in it, and is content where there is nothing. The
	// directory itself, ".", is fs.ErrInvalid.
	Remove(name string) error
	RemoveAll(name string) error

	// Rename moves a file, link or directory, and replaces a file, or an empty
	// directory, that has the new name.
	Rename(from, to string) error
}

// A File is an open file of an [FS]. What was written is there for programs
// when Write returns. Its methods may fail as those of the FS do. It is for one
// goroutine at a time.
type File interface {
	fs.File
	io.Writer
	io.Seeker
}

// What can be wrong with a file beside fs.ErrInvalid, fs.ErrNotExist,
// fs.ErrExist and fs.ErrPermission.
var (
	ErrIsDir    = errors.New("is a directory")
	ErrNotDir   = errors.New("not a directory")
	ErrNotEmpty = errors.New("directory not empty")

	// ErrOutside: a link leads out of the directory.
	ErrOutside = errors.New("outside of the directory")

	// ErrSpecial: it is a FIFO, a socket or a device, or a name of a file that
	// belongs to somebody else than the directory's programs.
	ErrSpecial = errors.New("not a regular file")

	// ErrTooLarge: a file or a set of files exceeds a fixed limit.
	ErrTooLarge = errors.New("too large")

	// ErrQuota: there is no room left for files.
	ErrQuota = errors.New("no space left for files")
)

// writeSize is how much WriteFile writes at once: a write may be a message.
const writeSize = 1 << 20

// WriteFile creates or replaces a file of fsys with what r has, however much
// that is. Where it fails, what was written so far is in the file.
func WriteFile(fsys FS, name string, r io.Reader, perm fs.FileMode) (err error) {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Only Read and Write are left of both: ReadFrom or WriteTo would choose the
	// size.
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{r}, make([]byte, writeSize))
	return err
}

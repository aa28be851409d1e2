package jupyter

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/fsentry"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// maxEntries and maxNames, in bytes, bound a listing, maxPages what it comes in: some
// entries may have gone meanwhile.
const (
	maxEntries = 1 << 20
	maxNames   = 64 << 20
	maxPages   = 2 * maxEntries / kernel.MaxFileEntries
)

// A directory is that of a session, on the kernel's host.
type directory struct {
	s      *session
	within bool // a method of the session
}

var _ codeinterp.FS = directory{}

// do makes a request about a name.
func (d directory) do(op, name string, q *kernel.FileRequest) (*kernel.FileAnswer, error) {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return d.request(op, name, q)
}

// request is do, for names that may be any bytes.
func (d directory) request(op, name string, q *kernel.FileRequest) (*kernel.FileAnswer, error) {
	q.Name = []byte(name)
	a, err := d.s.ask(q, d.within)
	if err == nil && a.Fault != "" {
		err = faultOf(a.Fault)
	}
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return a, err
}

var faults = map[string]error{
	"ENOENT": fs.ErrNotExist, "EEXIST": fs.ErrExist, "EACCES": fs.ErrPermission, "EPERM": fs.ErrPermission, "EROFS": fs.ErrPermission,
	"EINVAL": fs.ErrInvalid, "ELOOP": fs.ErrInvalid, "ENAMETOOLONG": fs.ErrInvalid, "EISDIR": codeinterp.ErrIsDir,
	"ENOTDIR": codeinterp.ErrNotDir, "ENOTEMPTY": codeinterp.ErrNotEmpty, "outside": codeinterp.ErrOutside,
	"special": codeinterp.ErrSpecial, "quota": codeinterp.ErrQuota, "large": codeinterp.ErrTooLarge,
}

// faultOf is what a word of files.py means.
func faultOf(word string) error {
	if err := faults[word]; err != nil {
		return err
	}
	return server.Unavailable("the kernel's host failed: %.40q", word)
}

func (d directory) Stat(name string) (fs.FileInfo, error)  { return d.stat("stat", name, true) }
func (d directory) Lstat(name string) (fs.FileInfo, error) { return d.stat("lstat", name, false) }

func (d directory) stat(op, name string, follow bool) (fs.FileInfo, error) {
	a, err := d.do(op, name, &kernel.FileRequest{Op: "stat", Follow: follow})
	if err != nil {
		return nil, err
	}
	return infoOf(name, &a.FileEntry), nil
}

// Open implements fs.FS.
func (d directory) Open(name string) (fs.File, error) {
	i, err := d.stat("open", name, true)
	if err != nil {
		return nil, err
	}
	if !i.IsDir() {
		return d.OpenFile(name, os.O_RDONLY, 0)
	}
	list, err := d.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return fsentry.Open(i, list), nil
}

// ReadDir implements fs.ReadDirFS.
func (d directory) ReadDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	after, names := []byte(nil), 0
	for range maxPages {
		a, err := d.do("readdir", name, &kernel.FileRequest{Op: "list", After: after})
		if err != nil {
			return nil, err
		}
		for i := range a.Entries {
			names += len(a.Entries[i].Name)
			entries = append(entries, fs.FileInfoToDirEntry(infoOf(string(a.Entries[i].Name), &a.Entries[i])))
		}
		if len(a.After) == 0 {
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return entries, nil
		}
		// Programs can answer in place of files.py: pages that do not get on have no
		// end.
		if string(a.After) <= string(after) || len(entries) > maxEntries || names > maxNames {
			break
		}
		after = a.After
	}
	return nil, &fs.PathError{Op: "readdir", Path: name, Err: codeinterp.ErrTooLarge}
}

const knownFlags = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC

// OpenFile implements codeinterp.FS.
func (d directory) OpenFile(name string, flag int, perm fs.FileMode) (codeinterp.File, error) {
	if flag&^knownFlags != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f := &file{d: d, name: name, read: flag&os.O_WRONLY == 0, write: flag&(os.O_WRONLY|os.O_RDWR) != 0, atEnd: flag&os.O_APPEND != 0}
	flags := f.flags() + letters(map[string]bool{"c": flag&os.O_CREATE != 0, "x": flag&os.O_EXCL != 0, "t": f.write && flag&os.O_TRUNC != 0})
	a, err := d.do("open", name, &kernel.FileRequest{Op: "open", Flags: flags, Perm: uint32(perm.Perm())})
	if err != nil {
		return nil, err
	}
	f.id = a.ID
	return f, nil
}

// Mkdir implements codeinterp.FS.
func (d directory) Mkdir(name string, perm fs.FileMode) error { return d.mkdir(name, perm, false) }

// MkdirAll implements codeinterp.FS.
func (d directory) MkdirAll(name string, perm fs.FileMode) error { return d.mkdir(name, perm, true) }

func (d directory) mkdir(name string, perm fs.FileMode, all bool) error {
	_, err := d.do("mkdir", name, &kernel.FileRequest{Op: "mkdir", Perm: uint32(perm.Perm()), All: all})
	return err
}

// Remove implements codeinterp.FS.
func (d directory) Remove(name string) error { return d.remove(name, false) }

// RemoveAll implements codeinterp.FS.
func (d directory) RemoveAll(name string) error { return d.remove(name, true) }

func (d directory) remove(name string, all bool) error {
	if name == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	_, err := d.do("remove", name, &kernel.FileRequest{Op: "remove", All: all})
	return err
}

// Rename implements codeinterp.FS.
func (d directory) Rename(from, to string) error {
	if from == "." || to == "." || !fs.ValidPath(to) || strings.IndexByte(to, 0) >= 0 {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrInvalid}
	}
	_, err := d.do("rename", from, &kernel.FileRequest{Op: "rename", To: []byte(to)})
	return err
}

func infoOf(name string, e *kernel.FileEntry) fs.FileInfo {
	return fsentry.Info(path.Base(name), e.Size, modeOf(e.Mode), time.Unix(0, e.Time))
}

// kinds are the kinds of files in modes of the kernel's host, which is POSIX.
var kinds = map[uint32]fs.FileMode{
	0o10: 0, 0o04: fs.ModeDir, 0o12: fs.ModeSymlink, 0o01: fs.ModeNamedPipe, 0o14: fs.ModeSocket,
	0o02: fs.ModeDevice | fs.ModeCharDevice, 0o06: fs.ModeDevice,
}

// modeOf is a mode of the kernel's host.
func modeOf(m uint32) fs.FileMode {
	kind, ok := kinds[m>>12&0o17]
	if !ok {
		kind = fs.ModeIrregular
	}
	return kind | fs.FileMode(m&0o777)
}

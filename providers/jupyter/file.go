package jupyter

import (
	"io"
	"io/fs"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
)

// piece is how many bytes of a file one request carries.
const piece = 1 << 20

// A file is an open file. It is open here alone: each request opens it anew, by
// its name, and wants the same file there.
type file struct {
	d           directory
	name, id    string
	read, write bool
	atEnd       bool // writes append
	closed      bool
	pos         int64
	ahead       []byte // read from pos on
}

var _ codeinterp.File = (*file)(nil)

// flags are those of open in files.py.
func (f *file) flags() string {
	return letters(map[string]bool{"r": f.read, "w": f.write, "a": f.atEnd})
}

func letters(of map[string]bool) (set string) {
	for letter, is := range of {
		if is {
			set += letter
		}
	}
	return set
}

// usable is why an operation fails at once.
func (f *file) usable(op string, may bool) error {
	switch {
	case f.closed:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	case !may:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrPermission}
	}
	return nil
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.usable("stat", true); err != nil {
		return nil, err
	}
	// By open, which says whether the name still leads to the same file.
	a, err := f.d.do("stat", f.name, &kernel.FileRequest{Op: "open", Flags: f.flags(), ID: f.id})
	if err != nil {
		return nil, err
	}
	return infoOf(f.name, &a.FileEntry), nil
}

// Read implements fs.File.
func (f *file) Read(p []byte) (int, error) {
	if err := f.usable("read", f.read); err != nil || len(p) == 0 {
		return 0, err
	}
	if len(f.ahead) == 0 {
		// By request: the name of an artifact may be any bytes.
		a, err := f.d.request("read", f.name, &kernel.FileRequest{Op: "read", ID: f.id, At: f.pos, Size: piece})
		if err != nil {
			return 0, err
		}
		if len(a.Data) == 0 {
			return 0, io.EOF
		}
		f.ahead = a.Data
	}
	n := copy(p, f.ahead)
	f.ahead = f.ahead[n:]
	f.pos += int64(n)
	return n, nil
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (n int, err error) {
	if err := f.usable("write", f.write); err != nil {
		return 0, err
	}
	// It may hold what is written over.
	f.ahead = nil
	for len(p) > 0 {
		part := p[:min(len(p), piece)]
		a, err := f.d.do("write", f.name, &kernel.FileRequest{Op: "write", ID: f.id, At: f.pos, Append: f.atEnd, Data: part})
		if a != nil {
			// A program can answer with any size; io.Writer allows no more than len(p).
			done := min(max(int(a.Size), 0), len(part))
			n += done
			f.pos += int64(done)
		}
		if err != nil {
			return n, err
		}
		if a.Size < int64(len(part)) {
			return n, &fs.PathError{Op: "write", Path: f.name, Err: io.ErrShortWrite}
		}
		if f.atEnd {
			// The end is where others may have moved it.
			f.pos = a.At
		}
		p = p[len(part):]
	}
	return n, nil
}

// Seek implements io.Seeker.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	if err := f.usable("seek", true); err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		i, err := f.Stat()
		if err != nil {
			return 0, err
		}
		offset += i.Size()
	default:
		offset = -1
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.pos, f.ahead = offset, nil
	return offset, nil
}

// Close implements fs.File.
func (f *file) Close() error {
	if err := f.usable("close", true); err != nil {
		return err
	}
	f.closed, f.ahead = true, nil
	return nil
}

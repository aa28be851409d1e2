package inmemory

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// ImageOptions are the same for SaveContext and LoadContext.
type ImageOptions struct {
	// Key signs an image: LoadContext takes none that was made with another, or changed.
	// It has at least 16 bytes.
	Key []byte
	// Owner is whose the image is. LoadContext takes no other's.
	Owner string
}

// An image is a context that is not running.
type image struct {
	Owner, Engine, Language, Cwd string
	Env                          map[string]string
	Runs                         int
	Files                        []savedFile // nil where contexts share them
	Size                         int         // of State
	State                        []byte      `json:"-"`
}

type savedFile struct {
	Name     string
	Dir      bool
	Mode     fs.FileMode
	Modified time.Time
	Size     int
	Data     []byte `json:"-"`
}

// encode returns the image: the size of a description in JSON, that, the state and the
// contents of the files.
func (m *image) encode() ([]byte, error) {
	m.Size = len(m.State)
	head, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{binary.BigEndian.AppendUint32(nil, uint32(len(head))), head, m.State}
	for _, f := range m.Files {
		parts = append(parts, f.Data)
	}
	return slices.Concat(parts...), nil
}

func decode(data []byte) (*image, error) {
	var err error
	next := func(n int) (part []byte) {
		if n < 0 || n > len(data) {
			err = io.ErrUnexpectedEOF
			return nil
		}
		part, data = data[:n:n], data[n:]
		return part
	}
	m := &image{}
	if size := next(4); err == nil {
		if head := next(int(binary.BigEndian.Uint32(size))); err == nil {
			err = json.Unmarshal(head, m)
		}
	}
	m.State = next(m.Size)
	for i := range m.Files {
		m.Files[i].Data = next(m.Files[i].Size)
	}
	return m, err
}

const minKey = 16

// maxOther is how large an image may be beside memory and files.
const maxOther = 64 << 20

func (o *ImageOptions) sum(data []byte) ([]byte, error) {
	if o == nil || len(o.Key) < minKey {
		return nil, fmt.Errorf("%w: a key of less than %d bytes", codeinterp.ErrInvalid, minKey)
	}
	h := hmac.New(sha256.New, o.Key)
	h.Write(data)
	return h.Sum(nil), nil
}

// SaveContext writes a context as an image: its state, and its files where it has its own.
// Functions of the host are not part of it. It waits for runs in progress. A language whose
// engine has no images, and a program that has files open, are ErrInvalid.
func (s *Stateful) SaveContext(ctx context.Context, id codeinterp.ContextID, w io.Writer, o *ImageOptions) error {
	return s.BetweenRuns(ctx, "save context", id, func(of driver.Session) error {
		saved, err := s.rt.save(of)
		if err != nil {
			return err
		}
		if o != nil {
			saved.Owner = o.Owner
		}
		data, err := saved.encode()
		if err != nil {
			return err
		}
		sum, err := o.sum(data)
		if err == nil {
			_, err = w.Write(sum)
		}
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
}

func (rt *engines) save(of driver.Session) (*image, error) {
	s, ok := of.(*session)
	if !ok || s.inst == nil {
		return nil, fmt.Errorf("%w: the context has lost its state", codeinterp.ErrUnavailable)
	}
	e, loads := s.lang.engine.(engine.Loader)
	saver, saves := s.inst.(engine.Saver)
	if !loads || !saves {
		return nil, fmt.Errorf("%w: %s contexts have no images", codeinterp.ErrInvalid, s.lang.info.Name)
	}
	saved := &image{Language: s.lang.info.Name, Cwd: s.cwd, Env: s.env, Runs: s.runs}
	var err error
	if saved.Engine, err = e.Identity(); err == nil {
		saved.State, err = saver.Save()
	}
	if err == nil && rt.opts.Shared == nil {
		saved.Files, err = saveFiles(s.files)
	}
	return saved, err
}

func saveFiles(files *memfs.FS) (list []savedFile, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := savedFile{Name: name, Dir: d.IsDir(), Mode: info.Mode().Perm(), Modified: info.ModTime()}
		if !f.Dir {
			f.Data, err = files.ReadFile(name)
			f.Size = len(f.Data)
		}
		list = append(list, f)
		return err
	})
	return list, err
}

// LoadContext makes a context of an image, by an interpreter with the same engine. Random
// numbers differ from those of other contexts of the image; clocks that only run forward
// begin anew. An image with another signature, owner or engine is ErrInvalid.
func (s *Stateful) LoadContext(ctx context.Context, r io.Reader, o *ImageOptions) (codeinterp.ContextID, error) {
	return s.Adopt(ctx, "load context", func(id codeinterp.ContextID) (driver.Attached, error) {
		saved, err := s.rt.read(r, o)
		if err != nil {
			return driver.Attached{}, err
		}
		session, err := s.rt.load(saved, id)
		if err != nil {
			return driver.Attached{}, err
		}
		return driver.Attached{Session: session, Language: saved.Language, Empty: saved.Runs == 0, Runs: saved.Runs,
			Options: codeinterp.ContextOptions{Cwd: "/" + saved.Cwd, Env: saved.Env}}, nil
	})
}

// read returns an image after its signature was compared.
func (rt *engines) read(r io.Reader, o *ImageOptions) (*image, error) {
	var most int64
	for _, l := range rt.languages {
		most = max(most, l.limits.Memory)
	}
	data, err := io.ReadAll(io.LimitReader(r, most+rt.opts.Files.MaxBytes+maxOther))
	if err != nil {
		return nil, err
	}
	n := min(len(data), sha256.Size)
	sum, err := o.sum(data[n:])
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(sum, data[:n]) {
		return nil, fmt.Errorf("%w: the image was not signed with this key", codeinterp.ErrInvalid)
	}
	saved, err := decode(data[n:])
	if err != nil {
		return nil, fmt.Errorf("%w: the image: %v", codeinterp.ErrInvalid, err)
	}
	if saved.Owner != o.Owner {
		return nil, fmt.Errorf("%w: the image is another owner's", codeinterp.ErrInvalid)
	}
	return saved, nil
}

func (rt *engines) load(saved *image, id codeinterp.ContextID) (*session, error) {
	l := rt.languages[saved.Language]
	if l == nil {
		return nil, fmt.Errorf("%w: %q", codeinterp.ErrLanguage, saved.Language)
	}
	e, ok := l.engine.(engine.Loader)
	if !ok {
		return nil, fmt.Errorf("%w: %s contexts have no images", codeinterp.ErrInvalid, saved.Language)
	}
	if id, err := e.Identity(); err != nil || id != saved.Engine {
		return nil, errors.Join(fmt.Errorf("%w: the image is of another pack or version", codeinterp.ErrInvalid), err)
	}
	s := &session{rt: rt, lang: l, files: rt.files(), cwd: saved.Cwd, env: saved.Env, runs: saved.Runs}
	s.connect(id)
	if rt.opts.Shared == nil {
		if err := loadFiles(s.files, saved.Files); err != nil {
			return nil, err
		}
	} else if err := s.files.MkdirAll(s.cwd, 0o755); err != nil {
		return nil, err
	}
	var err error
	s.inst, err = e.Load(engine.Config{Limits: l.limits, Budget: rt.budget, Files: s.files, Cwd: s.cwd}, saved.State)
	return s, err
}

func loadFiles(files *memfs.FS, list []savedFile) (err error) {
	for _, f := range list {
		if f.Dir {
			err = files.MkdirAll(f.Name, 0o755)
		} else {
			err = files.WriteFile(f.Name, f.Data)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range list {
		if err := errors.Join(files.Chtimes(f.Name, f.Modified), files.Chmod(f.Name, f.Mode)); err != nil {
			return err
		}
	}
	return nil
}

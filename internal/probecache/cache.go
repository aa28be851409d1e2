// Package probecache keeps the results of probes of this machine from one process to the
// next, in a directory that belongs to the user and is closed to others. A result is stored
// under a key that names all that it depends on, with the stamps of the files that it was
// taken from; see [Stamp] and [Machine].
//
// # Security
//
// Programs may be able to change the directory. So each file carries its SHA-256 in an
// extended attribute, which the sandbox lets no program set; without it a file is ignored.
package probecache

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// A Cache holds results. A nil Cache holds none. Several processes may use the same
// directory at once.
type Cache struct{ dir string }

// maxEntries bounds the files in a cache. When there are more, all are removed.
const maxEntries = 200

// Open returns the cache in dir, or nil if dir is empty or another user owns it or can
// write to it.
func Open(dir string) *Cache {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !private(info) {
		return nil
	}
	return &Cache{dir}
}

// entry is the content of a file.
type entry struct {
	Key    string
	Time   time.Time
	Files  map[string]string // stamps
	Result []byte
}

func (c *Cache) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".gob")
}

// Load reads the result of a key into v, and reports whether there is one that is not
// older than age, if age is not zero, and whose files are unchanged.
func (c *Cache) Load(key string, age time.Duration, v any) bool {
	if c == nil {
		return false
	}
	b, err := os.ReadFile(c.file(key))
	var e entry
	if err != nil || !sealed(c.file(key), b) || decode(b, &e) != nil || e.Key != key || age != 0 && time.Since(e.Time) > age {
		return false
	}
	for file, was := range e.Files {
		if Stamp(file) != was {
			return false
		}
	}
	return decode(e.Result, v) == nil
}

// decode reads b into v. A result has much that JSON would have to unquote.
func decode(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }

// Store keeps a result that was taken from files. Errors are ignored.
func (c *Cache) Store(key string, files []string, v any) {
	if c == nil {
		return
	}
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(v) != nil {
		return
	}
	e := entry{Key: key, Time: time.Now(), Files: map[string]string{}, Result: bytes.Clone(b.Bytes())}
	for _, f := range files {
		e.Files[f] = Stamp(f)
	}
	b.Reset()
	if gob.NewEncoder(&b).Encode(e) != nil {
		return
	}
	if list, err := os.ReadDir(c.dir); err == nil && len(list) >= maxEntries {
		for _, old := range list {
			_ = os.Remove(filepath.Join(c.dir, old.Name()))
		}
	}
	half, err := os.CreateTemp(c.dir, "new-")
	if err != nil {
		return
	}
	_, err = half.Write(b.Bytes())
	if half.Close() != nil || err != nil || seal(half.Name(), b.Bytes()) != nil || os.Rename(half.Name(), c.file(key)) != nil {
		_ = os.Remove(half.Name())
	}
}

// Files lists files that decide which interpreter a version manager starts.
func Files() (list []string) {
	home, _ := os.UserHomeDir()
	for _, root := range []string{os.Getenv("PYENV_ROOT"), filepath.Join(home, ".pyenv")} {
		list = append(list, filepath.Join(root, "version"))
	}
	return append(list, filepath.Join(home, ".tool-versions"), filepath.Join(home, ".config/mise/config.toml"), "/.python-version", "/.tool-versions")
}

// Environment returns the variables that decide which interpreter a command means.
func Environment() string { return os.Getenv("PATH") + "\x00" + os.Getenv("HOME") }

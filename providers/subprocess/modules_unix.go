//go:build unix

package subprocess

import (
	"bytes"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// A moduleFiles holds what the files of a process's imported modules were when it had
// imported them.
type moduleFiles struct {
	stamps map[string]stamp
	stale  atomic.Bool // a file has changed since it was imported, or meanwhile
}

// A stamp tells whether a file is still the same.
type stamp struct {
	modified time.Time
	size     int64
	inode    uint64
}

// newModuleFiles takes a list of paths, separated by NUL, of a process that was started
// at a time.
func newModuleFiles(paths []byte, started time.Time) *moduleFiles {
	m := &moduleFiles{stamps: map[string]stamp{}}
	for path := range bytes.SplitSeq(paths, []byte{0}) {
		if len(path) == 0 {
			continue
		}
		s := stampOf(string(path))
		m.stamps[string(path)] = s
		if s.modified.After(started) {
			m.stale.Store(true)
		}
	}
	return m
}

// changed reports whether a file has changed or gone since. A nil m has none. It is safe
// for concurrent use: the children of a fork server share m.
func (m *moduleFiles) changed() bool {
	if m == nil {
		return false
	}
	for path, was := range m.stamps {
		if m.stale.Load() {
			break
		}
		if stampOf(path) != was {
			m.stale.Store(true)
		}
	}
	return m.stale.Load()
}

// stampOf returns the zero stamp for a file that does not exist, as in a zip archive.
func stampOf(path string) stamp {
	about, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{modified: about.ModTime(), size: about.Size()}
	if st, ok := about.Sys().(*syscall.Stat_t); ok {
		s.inode = uint64(st.Ino)
	}
	return s
}

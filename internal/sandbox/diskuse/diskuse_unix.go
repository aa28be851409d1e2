//go:build unix

// Package diskuse adds up the files of directories that untrusted programs change.
package diskuse

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/internal/dirwalk"
)

// A Use is the size of what a walk found.
type Use struct {
	Bytes  int64
	Inodes int
}

// over reports whether a walk found more than enough, in which -1 is no limit.
func (w Use) over(enough Use) bool {
	return enough.Bytes >= 0 && w.Bytes > enough.Bytes || enough.Inodes >= 0 && w.Inodes > enough.Inodes
}

// budget is for one walk.
const budget = 2 * time.Second

var (
	errEnough = errors.New("enough")

	// ErrUnmeasured reports a directory that cannot be measured: one that its owner, the
	// host's user, may not read, or one that is too deep.
	ErrUnmeasured = errors.New("the directory cannot be measured; it is unreadable or deeper than 128 levels")
)

// Measure walks dir, and stops when it has found more than enough, in which -1 is no limit, or
// after two seconds. A file with several names counts once, and what another user closed
// does not count.
func Measure(dir string, enough Use) (w Use, err error) {
	end, linked := time.Now().Add(budget), map[uint64]bool{}
	top, err := os.Open(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return w, ErrUnmeasured
	case err != nil:
		return w, nil // it is gone
	}
	err = dirwalk.Walk(top, func(e *dirwalk.Entry) error {
		st := &e.Stat
		switch {
		case e.Err == dirwalk.ErrDeep, e.Err == unix.EACCES && int(st.Uid) == os.Geteuid():
			return ErrUnmeasured
		case e.Err != nil:
			return nil
		}
		w.Inodes++
		// Only files with several names are remembered, which keeps the map small.
		if several := st.Nlink > 1 && !e.IsDir(); !several || !linked[st.Ino] {
			w.Bytes += st.Blocks * 512
			if several {
				linked[st.Ino] = true
			}
		}
		// Reading the clock costs as much as a stat.
		if w.over(enough) || w.Inodes%64 == 0 && time.Now().After(end) {
			return errEnough
		}
		return nil
	})
	if err == ErrUnmeasured {
		return w, err
	}
	return w, nil
}

// Used returns the size of what is in a directory, as far as a walk of two seconds finds it.
func Used(dir string) (bytes int64, inodes int) {
	u, _ := Measure(dir, Use{-1, -1})
	return u.Bytes, u.Inodes
}

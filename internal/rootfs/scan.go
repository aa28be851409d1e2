//go:build unix

package rootfs

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io/fs"
	"time"

	"github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/internal/dirwalk"
)

// maxScan is how many files and directories one scan reads.
const maxScan = 50_000

var errEnough = errors.New("enough")

// scan calls seen, as the user of the files, for all files in f and for the directories
// that cannot be listed. It reports the time of the last change, and whether it saw
// everything.
func (f *FS) scan(ctx context.Context, seen func(*dirwalk.Entry)) (newest time.Time, whole bool) {
	n, deep := 0, false
	visit := func(e *dirwalk.Entry) error {
		if e.Err == dirwalk.ErrDeep { // the other branches are looked at all the same
			deep = true
			return nil
		}
		if n++; n > maxScan || n%64 == 1 && ctx.Err() != nil {
			return errEnough
		}
		if t := time.Unix(e.Stat.Ctim.Unix()); t.After(newest) {
			newest = t
		}
		if e.Err != nil || !e.IsDir() {
			seen(e)
		} else if artifact.IsCacheDir(e.Name) {
			return fs.SkipDir
		}
		return nil
	}
	err := f.as(func() error {
		top, err := f.root.Open(".")
		if err != nil {
			return err
		}
		return dirwalk.Walk(top, visit)
	})
	return newest, err == nil && !deep
}

// sum returns the hash of a file's path and state.
func sum(seed maphash.Seed, e *dirwalk.Entry) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(e.Dir)
	_ = h.WriteByte('/')
	_, _ = h.WriteString(e.Name)
	st, b := &e.Stat, [8]byte{}
	for _, n := range [...]int64{int64(st.Dev), int64(st.Ino), int64(st.Mode), st.Size, st.Mtim.Nano(), st.Ctim.Nano()} {
		binary.NativeEndian.PutUint64(b[:], uint64(n))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}

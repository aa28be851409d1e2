//go:build unix

package environments

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// Sweep removes environments from a root, which may be empty as Options.Root may,
// until the rest takes at most size bytes: first what killed processes left, then the
// environments that were opened the longest ago, except those of the IDs in keep. It
// returns the IDs of the removed ones and the bytes that are left.
func Sweep(ctx context.Context, root string, size int64, keep []string) (removed []string, left int64, err error) {
	if root, err = Root(root); err != nil {
		return nil, 0, err
	}
	sandbox.SweepTemp(root)
	var found []*Environment
	entries, err := os.ReadDir(root)
	for _, entry := range entries {
		if isID(entry.Name()) {
			found = append(found, &Environment{ID: entry.Name(), Dir: filepath.Join(root, entry.Name())})
		}
	}
	slices.SortFunc(found, func(a, b *Environment) int {
		return cmp.Or(a.lastOpened().Compare(b.lastOpened()), cmp.Compare(a.ID, b.ID))
	})
	left = bytesIn(root)
	for _, e := range found {
		whole := !e.lastOpened().IsZero()
		if whole && (left <= size || slices.Contains(keep, e.ID)) {
			continue
		}
		if failed := e.Remove(ctx); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if left = bytesIn(root); whole {
			removed = append(removed, e.ID)
		}
	}
	if err != nil {
		err = &codeinterp.Error{Provider: "environments", Op: "sweep", Err: err}
	}
	return removed, left, err
}

// lastOpened returns when the environment was last opened, the zero time for one that is
// incomplete.
func (e *Environment) lastOpened() time.Time {
	about, err := os.Stat(filepath.Join(e.Dir, lockFile))
	if err != nil {
		return time.Time{}
	}
	return about.ModTime()
}

// bytesIn adds up the sizes of the files in a directory.
func bytesIn(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is being removed
		}
		if about, err := d.Info(); err == nil && about.Mode().IsRegular() {
			n += about.Size()
		}
		return nil
	})
	return n
}

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
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// Sweep removes environments from a root, which may be empty as Options.Root may,
// until the rest takes at most size bytes: first what killed processes left, then the
// environments that were opened the longest ago, except those of the IDs in keep, and
// last the cache. It returns the IDs of the removed ones and the bytes that are left.
func Sweep(ctx context.Context, root string, size int64, keep []string) (removed []string, left int64, err error) {
	if root, err = Root(root); err != nil {
		return nil, 0, err
	}
	err = removeHalf(ctx, root)
	found, _ := filepath.Glob(filepath.Join(root, "*", lockFile))
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(opened(a).Compare(opened(b)), cmp.Compare(a, b)) })
	left = bytesIn(root)
	for _, file := range found {
		id := filepath.Base(filepath.Dir(file))
		if left <= size || slices.Contains(keep, id) {
			continue
		}
		e := &Environment{ID: id, Dir: filepath.Dir(file)}
		if failed := e.Remove(ctx); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed, left = append(removed, id), bytesIn(root)
	}
	if left > size {
		err = errors.Join(err, removeCache(ctx, root))
		left = bytesIn(root)
	}
	if err != nil {
		err = &codeinterp.Error{Provider: "environments", Op: "sweep", Err: err}
	}
	return removed, left, err
}

// removeHalf removes what installations left that no process continues.
func removeHalf(ctx context.Context, root string) error {
	sandbox.SweepTemp(root)
	half, err := filepath.Glob(filepath.Join(root, "*.new"))
	for _, dir := range half {
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		held, busy := lock(soon, strings.TrimSuffix(dir, ".new")+".lock", false)
		cancel()
		if busy == nil {
			err = errors.Join(err, os.RemoveAll(dir))
			held.Close()
		}
	}
	return err
}

// opened returns when an environment was last opened, by its lock file.
func opened(lock string) time.Time {
	about, err := os.Stat(lock)
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

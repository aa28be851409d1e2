//go:build unix

package subprocess

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

// SweepEnvironments removes environments from a root, which may be empty as
// EnvironmentOptions.Root may, until what is left takes at most size bytes: first
// what killed processes have left, then the environments that were opened the
// longest ago, but those of the IDs in keep, and last the wheels that are kept to
// make them again. Programs that use one lose it. It returns the IDs of those
// that it removed, and how many bytes are left.
func SweepEnvironments(ctx context.Context, root string, size int64, keep []string) (removed []string, left int64, err error) {
	if root, err = EnvironmentRoot(root); err != nil {
		return nil, 0, err
	}
	err = removeHalf(ctx, root)
	found, _ := filepath.Glob(filepath.Join(root, "*", lockFile))
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(used(a).Compare(used(b)), cmp.Compare(a, b)) })
	left = bytesIn(root)
	for _, file := range found {
		id := filepath.Base(filepath.Dir(file))
		if left <= size || slices.Contains(keep, id) {
			continue
		}
		e := &Environment{ID: id, Dir: filepath.Dir(file)}
		if gone := e.Remove(ctx); gone != nil {
			err = errors.Join(err, gone)
			continue
		}
		removed, left = append(removed, id), bytesIn(root)
	}
	if left > size {
		err = errors.Join(err, removeKept(ctx, root, cacheDir, wheelsDir))
		left = bytesIn(root)
	}
	if err != nil {
		err = &codeinterp.Error{Provider: provider, Op: "sweep", Err: err}
	}
	return removed, left, err
}

// removeHalf removes what is half made and made by nobody any more.
func removeHalf(ctx context.Context, root string) error {
	sandbox.SweepTemp(root)
	half, err := filepath.Glob(filepath.Join(root, "*.new"))
	temp, _ := filepath.Glob(filepath.Join(root, "*.tmp"))
	for _, dir := range append(half, temp...) {
		soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		unlock, _, busy := lockEnvironment(soon, strings.TrimSuffix(dir, filepath.Ext(dir))+".lock", false)
		cancel()
		if busy == nil {
			err = errors.Join(err, os.RemoveAll(dir))
			unlock()
		}
	}
	return err
}

// used is when an environment was opened last, by the file that says what it holds.
func used(lock string) time.Time {
	about, err := os.Stat(lock)
	if err != nil {
		return time.Time{}
	}
	return about.ModTime()
}

// bytesIn adds up the files of a directory.
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

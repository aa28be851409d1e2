//go:build unix

package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// list lists an open directory, with what its entries are now, sorted by name.
func list(dir *os.File) ([]fs.DirEntry, error) {
	var names []string
	for {
		more, err := dir.Readdirnames(1024)
		names = append(names, more...)
		switch {
		case len(names) > maxEntries:
			return nil, codeinterp.ErrTooLarge
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err // a part of a listing would pass for all of it
		case err == nil && len(more) > 0:
			continue
		}
		break
	}
	slices.Sort(names)
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		// By descriptor and without following: the directory may be moved, its
		// entries replaced.
		if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			entries = append(entries, fs.FileInfoToDirEntry(infoOf(name, &st)))
		}
	}
	return entries, nil
}

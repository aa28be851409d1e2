//go:build unix

package rootfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// list lists an open directory, with what its entries are now.
func list(dir *os.File) ([]fs.DirEntry, error) {
	entries, _, err := page(context.Background(), dir, "", maxEntries)
	return entries, err
}

// ReadDirAfter lists the first entries of a directory, sorted by name, that come
// after a name, and returns the name to go on after, empty at its end. However large the directory is, it
// takes memory for twice as many.
func (f *FS) ReadDirAfter(ctx context.Context, name, after string, most int) (_ []fs.DirEntry, last string, err error) {
	file, i, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	if !i.IsDir() {
		return nil, "", fault("readdir", name, codeinterp.ErrNotDir)
	}
	entries, last, err := page(ctx, file.file, after, most)
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	return entries, last, fault("readdir", name, err)
}

// page is ReadDirAfter for an open directory.
func page(ctx context.Context, dir *os.File, after string, most int) (_ []fs.DirEntry, last string, _ error) {
	var first []string // of which the lowest are wanted
	cut := func() {
		slices.Sort(first)
		if len(first) > most {
			clear(first[most:])
			first, last = first[:most], first[most-1]
		}
	}
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			if name > after {
				first = append(first, name)
			}
		}
		// At twice as many, so that not each batch is sorted.
		if len(first) >= 2*most {
			cut()
		}
		switch {
		case len(first) > maxEntries:
			return nil, "", codeinterp.ErrTooLarge
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case err != nil && !errors.Is(err, io.EOF):
			return nil, "", err // a part of a listing would pass for all of it
		case err != nil || len(names) == 0:
			cut()
			return stated(dir, first), last, nil
		}
	}
}

// stated returns the entries of an open directory that have these names.
func stated(dir *os.File, names []string) []fs.DirEntry {
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		// By descriptor and without following: the directory may be moved, its
		// entries replaced.
		if unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			entries = append(entries, fs.FileInfoToDirEntry(infoOf(name, &st)))
		}
	}
	return entries
}

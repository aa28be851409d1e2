//go:build unix

package rootfs

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/artifact"
	"github.com/toolcell/toolcell/internal/dirwalk"
)

// tick is the time within which two changes of a file may have the same time, where
// the kernel counts in ticks.
const tick = 11 * time.Millisecond

// A Snapshot is the state of the files in a directory: a few bytes for each.
type Snapshot struct {
	seed  maphash.Seed
	seen  map[uint64]struct{}
	whole bool
}

// Snapshot reads the state of everything in f, for a later call of [FS.Artifacts]. It
// stops soon after ctx is done.
func (f *FS) Snapshot(ctx context.Context) *Snapshot {
	s := &Snapshot{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	newest, whole := f.scan(ctx, func(e *dirwalk.Entry) { s.seen[sum(s.seed, e)] = struct{}{} })
	s.whole = whole
	// A file changed in the same tick once more would keep its times, and perhaps
	// its size.
	if age := time.Since(newest); age >= 0 && age < tick {
		select {
		case <-time.After(tick - age):
		case <-ctx.Done():
		}
	}
	return s
}

// A change is a file that was not there in this state before.
type change struct {
	path string
	st   unix.Stat_t
	err  error
}

// Artifacts lists the files that were created, changed or renamed since before, with
// their content where data is set. It reads the state of everything in f and the content
// of what changed, stops soon after ctx is done, and reports what is missing. Files in
// .git, node_modules, .venv, __pycache__ and .cache are not looked at.
func (f *FS) Artifacts(ctx context.Context, before *Snapshot, data bool) ([]codeinterp.Artifact, []codeinterp.Truncation) {
	list := artifact.List{Data: data}
	found := changes{fs: f}
	_, whole := f.scan(ctx, func(e *dirwalk.Entry) {
		if _, same := before.seen[sum(before.seed, e)]; !same || e.Err != nil {
			found.add(e.Path(), &e.Stat, e.Err)
		}
	})
	found.shrink()
	for i := range found.all {
		f.add(ctx, &list, &found.all[i])
	}
	list.More(found.files, found.bytes)
	if !whole || !before.whole {
		list.Cut()
	}
	return list.Done()
}

// maxPath is the longest path that is listed: no program opens a longer one.
const maxPath = unix.PathMax

// changes collects what differs, as far as a Result lists it: the first paths.
type changes struct {
	fs    *FS
	all   []change
	files int // the rest
	bytes int64
}

func (c *changes) add(path string, st *unix.Stat_t, err error) {
	if err != nil && !c.fs.mayHide(st) {
		return
	}
	if len(path) > maxPath {
		c.drop(st)
		return
	}
	// Twice the room, so that not every further one sorts the list.
	if c.all = append(c.all, change{path, *st, err}); len(c.all) == 2*codeinterp.MaxArtifacts {
		c.shrink()
	}
}

// shrink sorts what was found and drops what a Result does not list.
func (c *changes) shrink() {
	slices.SortFunc(c.all, func(a, b change) int { return strings.Compare(a.path, b.path) })
	room := min(len(c.all), codeinterp.MaxArtifacts)
	for i := range c.all[room:] {
		c.drop(&c.all[room+i].st)
	}
	clear(c.all[room:])
	c.all = c.all[:room]
}

// drop counts a file that is not listed.
func (c *changes) drop(st *unix.Stat_t) { c.files, c.bytes = c.files+1, artifact.Sum(c.bytes, st.Size) }

// mayHide reports whether programs may have changed something in a directory
// that cannot be listed: whether it is theirs.
func (f *FS) mayHide(st *unix.Stat_t) bool {
	uid := os.Geteuid()
	if f.opts.As != nil {
		uid = f.opts.As.UID
	}
	return int(st.Uid) == uid
}

// add appends a file to the list, or the reason why it was not read.
func (f *FS) add(ctx context.Context, list *artifact.List, c *change) {
	if c.err != nil {
		list.Skip(c.path, 0, reason(plain(c.err)))
		return
	}
	if why := artifact.Kind(modeOf(uint32(c.st.Mode))); why != "" {
		list.Skip(c.path, c.st.Size, why)
		return
	}
	file, st, err := f.openAny(c.path, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		list.Skip(c.path, c.st.Size, reason(err))
	// Programs of the same directory may still run, such as other contexts.
	case st.Dev != c.st.Dev || st.Ino != c.st.Ino:
		file.Close()
		list.Skip(c.path, c.st.Size, "replaced meanwhile")
	default:
		list.Add(ctx, c.path, st.Size, file)
	}
}

// reason returns why a file was not read.
func reason(err error) string {
	for _, known := range []error{fs.ErrPermission, codeinterp.ErrSpecial, codeinterp.ErrOutside} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unreadable"
}

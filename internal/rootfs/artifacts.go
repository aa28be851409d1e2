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
)

// tick is within what time two changes of a file may have the same time, where
// the kernel counts in ticks.
const tick = 11 * time.Millisecond

// A Snapshot tells what was in a directory from what came later. It keeps a few
// bytes for each file, or none where the directory is watched.
type Snapshot struct {
	seed  maphash.Seed
	seen  map[uint64]struct{}
	whole bool

	mark *mark // where the directory is watched, else nil
}

// Snapshot looks at everything in f, or at what changed since the last one where
// Options.Watches watch f. What changes after it has returned is told apart from
// what was there, also where it changes at once and keeps its size. It stops soon
// after ctx is done.
func (f *FS) Snapshot(ctx context.Context) *Snapshot {
	s := &Snapshot{}
	if t := f.watched(); t == nil || !t.snapshot(ctx, s) {
		f.fill(ctx, s, nil, nil)
	}
	if s.mark != nil {
		s.seen = nil
	}
	return s
}

// fill looks at everything in f. enter and seen, which may be nil, are told of it.
func (f *FS) fill(ctx context.Context, s *Snapshot, enter func(*level), seen func(*entry)) {
	s.seed, s.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	look := newScan(ctx)
	look.seed, look.enter = s.seed, enter
	look.seen = func(e *entry) {
		s.seen[e.sum] = struct{}{}
		if seen != nil {
			seen(e)
		}
	}
	s.whole = f.run(look)
	// A file changed in the same tick once more would keep its times, and perhaps
	// its size.
	if age := time.Since(look.newest); age >= 0 && age < tick {
		select {
		case <-time.After(tick - age):
		case <-ctx.Done():
		}
	}
}

// A changed is a file that was not there in this state before.
type changed struct {
	path string
	st   unix.Stat_t
	err  error
}

// Artifacts lists the files that were created, changed or given another name
// since before, and reads them: with their content where data is set. It takes
// as long as reading what changed, and as a look at everything in f unless f is
// watched; it stops soon after ctx is done, and says what is missing.
func (f *FS) Artifacts(ctx context.Context, before *Snapshot, data bool) ([]codeinterp.Artifact, []codeinterp.Truncation) {
	list := artifact.List{Data: data}
	found := finds{fs: f}
	whole := false
	if before.mark != nil {
		whole = before.mark.changes(ctx, &found)
	} else {
		whole = f.compare(ctx, before, &found)
	}
	found.keep()
	for i := range found.all {
		f.add(ctx, &list, &found.all[i])
	}
	list.More(found.files, found.bytes)
	if !whole {
		list.Cut()
	}
	return list.Done()
}

// maxPath is the longest path that is listed: no program opens a longer one.
const maxPath = unix.PathMax

// finds collects what differs, as far as a Result lists it: the first paths.
type finds struct {
	fs    *FS
	all   []changed
	files int // the rest
	bytes int64

	// Where a file may be added twice, the sums of the paths that were.
	seen map[uint64]struct{}
	seed maphash.Seed
}

// reset forgets what was found. A path can be added twice from now on.
func (d *finds) reset() {
	*d = finds{fs: d.fs, seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

func (d *finds) add(path string, st *unix.Stat_t, err error) {
	if err != nil && !d.fs.mayHide(st) || artifact.IsCache(path) {
		return
	}
	if d.seen != nil {
		sum := maphash.String(d.seed, path)
		if _, again := d.seen[sum]; again {
			return
		}
		d.seen[sum] = struct{}{}
	}
	if len(path) > maxPath {
		d.drop(st)
		return
	}
	// Twice the room, so that not each one that comes has to be put in its place.
	if d.all = append(d.all, changed{path, *st, err}); len(d.all) == 2*codeinterp.MaxArtifacts {
		d.keep()
	}
}

// keep sorts what was found, and keeps what a Result lists of it.
func (d *finds) keep() {
	slices.SortFunc(d.all, func(a, b changed) int { return strings.Compare(a.path, b.path) })
	room := min(len(d.all), codeinterp.MaxArtifacts)
	for i := range d.all[room:] {
		d.drop(&d.all[room+i].st)
	}
	clear(d.all[room:])
	d.all = d.all[:room]
}

// drop counts a file that is not listed.
func (d *finds) drop(st *unix.Stat_t) { d.files, d.bytes = d.files+1, artifact.Sum(d.bytes, st.Size) }

// compare looks at everything in f, and reports whether it saw all of it.
func (f *FS) compare(ctx context.Context, before *Snapshot, found *finds) bool {
	_, whole := f.scan(ctx, before.seed, func(e *entry) {
		if _, same := before.seen[e.sum]; !same || e.err != nil {
			found.add(e.path(), &e.st, e.err)
		}
	})
	return whole && before.whole
}

// mayHide reports whether programs may have changed something in a directory
// that cannot be listed: whether it is theirs.
func (f *FS) mayHide(st *unix.Stat_t) bool {
	uid := os.Geteuid()
	if f.opts.As != nil {
		uid = f.opts.As.UID
	}
	return int(st.Uid) == uid
}

// add puts a file on the list, with what there is to say of it.
func (f *FS) add(ctx context.Context, list *artifact.List, c *changed) {
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

// reason says why a file was not read.
func reason(err error) string {
	for _, known := range []error{fs.ErrPermission, codeinterp.ErrSpecial, codeinterp.ErrOutside} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "unreadable"
}

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
// bytes for each file.
type Snapshot struct {
	seed  maphash.Seed
	seen  map[uint64]struct{}
	whole bool
}

// Snapshot looks at everything in f. What changes after it has returned is told
// apart from what was there, also where it changes at once and keeps its size.
// It stops soon after ctx is done.
func (f *FS) Snapshot(ctx context.Context) *Snapshot {
	s := &Snapshot{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	newest, whole := f.scan(ctx, s.seed, func(e *entry) { s.seen[e.sum] = struct{}{} })
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

// A changed is a file that was not there in this state before.
type changed struct {
	path string
	st   unix.Stat_t
	err  error
}

// Artifacts lists the files that were created, changed or given another name
// since before, and reads them: with their content where data is set. It takes
// as long as a look at everything in f, and as reading what changed; it stops
// soon after ctx is done, and says what is missing.
func (f *FS) Artifacts(ctx context.Context, before *Snapshot, data bool) ([]codeinterp.Artifact, []codeinterp.Truncation) {
	found := artifact.List{Data: data}
	all, more, whole := f.changes(ctx, before)
	for i := range all {
		f.add(ctx, &found, &all[i])
	}
	if more >= 0 {
		found.More(more)
	}
	if !whole || !before.whole {
		found.Cut()
	}
	return found.Done()
}

// changes returns what differs, as far as a Result lists it, and the bytes of
// the rest, -1 where there is none.
func (f *FS) changes(ctx context.Context, before *Snapshot) (all []changed, more int64, whole bool) {
	more = -1
	_, whole = f.scan(ctx, before.seed, func(e *entry) {
		if _, same := before.seen[e.sum]; same && e.err == nil || e.err != nil && !f.mayHide(e) {
			return
		}
		if artifact.IsCache(e.path()) {
			return
		}
		if len(all) == codeinterp.MaxArtifacts {
			more = max(more, 0) + e.st.Size
			return
		}
		all = append(all, changed{e.path(), e.st, e.err})
	})
	slices.SortFunc(all, func(a, b changed) int { return strings.Compare(a.path, b.path) })
	return all, more, whole
}

// mayHide reports whether programs may have changed something in a directory
// that cannot be listed: whether it is theirs.
func (f *FS) mayHide(e *entry) bool {
	uid := os.Geteuid()
	if f.opts.As != nil {
		uid = f.opts.As.UID
	}
	return int(e.st.Uid) == uid
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

package shell

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Chunk is a part of a command's output.
type Chunk struct {
	Data   []byte
	Offset int64 // of Data, in all that the command has written
	Next   int64 // the offset after Data

	// Missed is how many of the bytes before Offset that were asked for are not
	// kept any more.
	Missed int64

	// End says that the command has ended and that nothing follows.
	End bool
}

// maxChunk is how many bytes Output returns by default.
const maxChunk = 64 << 10

// OutputOptions says which part of the output to return.
type OutputOptions struct {
	// Offset is the first byte to return. A negative one counts from the end.
	Offset int64

	// Limit is how many bytes to return at most. Zero means 64 KiB.
	Limit int
}

// Output returns a part of the output that a command has written so far. o may be
// nil.
func (s *Shell) Output(ctx context.Context, id ID, o *OutputOptions) (Chunk, error) {
	return s.output(ctx, id, o, false)
}

// Follow is Output that waits until the command has written something at the offset,
// or has ended.
func (s *Shell) Follow(ctx context.Context, id ID, o *OutputOptions) (Chunk, error) {
	return s.output(ctx, id, o, true)
}

func (s *Shell) output(ctx context.Context, id ID, o *OutputOptions, wait bool) (Chunk, error) {
	if o == nil {
		o = &OutputOptions{}
	}
	if o.Limit < 0 {
		return Chunk{}, fmt.Errorf("shell: %w: a limit of %d bytes", codeinterp.ErrInvalid, o.Limit)
	}
	limit := cmp.Or(o.Limit, maxChunk)
	c, err := s.find(ctx, id)
	if err != nil {
		return Chunk{}, err
	}
	for {
		chunk, more, err := c.out.read(o.Offset, limit)
		if err != nil || !wait || len(chunk.Data) > 0 || chunk.End {
			return chunk, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return chunk, context.Cause(ctx)
		}
	}
}

// A ring keeps the last of what is written to it.
type ring struct {
	keep int

	mu      sync.Mutex
	buf     []byte        // grows to keep, then its bytes go around
	total   int64         // bytes written
	from    int64         // the offset of the first that may be kept
	over    bool          // there will be no more
	changed chan struct{} // closed when there is more
}

func newRing(keep int) *ring { return &ring{keep: keep, changed: make(chan struct{})} }

func (r *ring) write(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Of more than it keeps, only the end would be left: what comes before is just counted.
	if skip := len(b) - r.keep; skip > 0 {
		r.total += int64(skip)
		b = b[skip:]
		r.spread()
	}
	for len(b) > 0 {
		if len(r.buf) < r.keep && r.total == int64(len(r.buf)) {
			n := min(len(b), r.keep-len(r.buf))
			r.buf = append(r.buf, b[:n]...)
			r.total += int64(n)
			b = b[n:]
			continue
		}
		n := copy(r.buf[r.total%int64(r.keep):], b)
		r.total += int64(n)
		b = b[n:]
	}
	r.tell()
}

// rest writes what a command that has ended wrote beyond the first seen bytes,
// which are in the ring.
func (r *ring) rest(res *codeinterp.Result, seen int64) {
	var all int64
	cut := map[string]bool{}
	for _, t := range res.Truncated {
		// The count of a stream that was cut has all of it, what is in Outputs too.
		if cut[t.Stream] = t.Bytes >= 0; cut[t.Stream] && stream(t.Stream) {
			all += t.Bytes
		}
	}
	var kept []byte // what comes without a gap before its end
	for _, o := range res.Outputs {
		if !stream(o.Kind.String()) {
			continue
		}
		if o.Dropped > 0 {
			// What was dropped lies between this and the end.
			kept = kept[:0]
		}
		kept = append(kept, o.Data...)
		if !cut[o.Kind.String()] {
			all += int64(len(o.Data))
		}
	}
	missing := all - seen
	if missing <= 0 {
		return
	}
	n := min(missing, int64(len(kept)))
	if missing > n {
		// They are lost, but the offsets of readers count them.
		r.skip(missing - n)
	}
	r.write(kept[int64(len(kept))-n:])
}

func stream(name string) bool {
	return name == codeinterp.Stdout.String() || name == codeinterp.Stderr.String()
}

// skip counts lost bytes. What came before them is not kept either.
func (r *ring) skip(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spread()
	r.total += n
	r.from = r.total
}

// spread gives the buffer its full length, so that positions are offsets modulo
// that.
func (r *ring) spread() {
	r.buf = append(r.buf, make([]byte, r.keep-len(r.buf))...)
}

func (r *ring) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *ring) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.tell()
}

func (r *ring) size() (total, dropped int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total, r.first()
}

// first is the offset of the oldest byte that is kept.
func (r *ring) first() int64 { return max(r.total-int64(r.keep), r.from) }

// read returns what is kept from offset on, and a channel that is closed when
// there is more.
func (r *ring) read(offset int64, most int) (c Chunk, more <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if offset < 0 {
		offset = max(r.total+offset, r.first())
	}
	if offset > r.total {
		return Chunk{}, nil, fmt.Errorf("shell: %w: offset %d is beyond the %d bytes that were written", codeinterp.ErrInvalid, offset, r.total)
	}
	c.Offset = max(offset, r.first())
	c.Missed = c.Offset - offset
	n := int(min(int64(most), r.total-c.Offset))
	c.Data = make([]byte, 0, n)
	for at := c.Offset; len(c.Data) < n; {
		from := int(at % int64(r.keep))
		// In two parts where it goes around.
		part := r.buf[from:min(len(r.buf), from+n-len(c.Data))]
		c.Data = append(c.Data, part...)
		at += int64(len(part))
	}
	c.Next = c.Offset + int64(n)
	c.End = r.over && c.Next == r.total
	return c, r.changed, nil
}

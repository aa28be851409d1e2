package shell

import (
	"bytes"
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
	buf     []byte        // the last bytes, up to twice keep
	total   int64         // bytes written
	over    bool          // there will be no more
	changed chan struct{} // closed when there is more
}

func newRing(keep int) *ring { return &ring{keep: keep, changed: make(chan struct{})} }

func (r *ring) write(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += int64(len(b))
	r.buf = append(r.buf, b[max(len(b)-r.keep, 0):]...)
	if extra := len(r.buf) - r.keep; extra > r.keep {
		r.buf = r.buf[:copy(r.buf, r.buf[extra:])]
	}
	r.notify()
}

// skip counts lost bytes. What came before them is not kept either.
func (r *ring) skip(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = r.buf[:0]
	r.total += n
}

func (r *ring) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *ring) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.notify()
}

func (r *ring) size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// first is the offset of the oldest byte that is kept.
func (r *ring) first() int64 { return r.total - int64(min(len(r.buf), r.keep)) }

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
	rest := r.buf[len(r.buf)-int(r.total-c.Offset):]
	c.Data = bytes.Clone(rest[:min(most, len(rest))])
	c.Next = c.Offset + int64(len(c.Data))
	c.End = r.over && c.Next == r.total
	return c, r.changed, nil
}

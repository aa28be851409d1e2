// Package kept is what a host and the keeper of a context say to each other, with the run
// of the context and its output, which the keeper keeps for hosts that come and go.
package kept

import (
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// An item is an output. The number of an output is how many came up to it that are not
// Late.
type item struct {
	codeinterp.Output
	number int
}

func (i *item) size() int { return i.Size() + 128 }

// A gap is what a reader wanted and is not kept any more.
type gap struct {
	First, Last int // numbers; both 0 if nothing is missing
	// Lost is how much of each kind was dropped in all.
	Lost []codeinterp.Truncation
}

// A spool is the output of a run. While a reader reads, writers wait for it; without one
// the oldest output is dropped.
type spool struct {
	keep int // bytes

	mu      sync.Mutex
	cond    sync.Cond
	items   []item
	first   int // how many were dropped
	number  int // of the last output
	bytes   int
	read    int // how many were dropped or read
	unread  int // bytes of the others
	readers int
	over    bool
	missing int                         // the number of the last that was dropped
	dropped [codeinterp.Clear + 1]int64 // bytes of each kind
}

// newSpool returns a spool that keeps so many bytes.
func newSpool(keep int) *spool {
	s := &spool{keep: keep}
	s.cond.L = &s.mu
	return s
}

// add adds an output. It waits while a reader has a lot to read.
func (s *spool) add(o codeinterp.Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.readers > 0 && s.unread > s.keep/4 {
		s.cond.Wait()
	}
	if !o.Late {
		s.number++
	}
	i := item{o, s.number}
	s.items = append(s.items, i)
	s.bytes += i.size()
	s.unread += i.size()
	for s.bytes > s.keep && len(s.items) > 1 {
		s.drop()
	}
	s.cond.Broadcast()
}

// drop drops the oldest output.
func (s *spool) drop() {
	old := s.items[0]
	s.items[0], s.items = item{}, s.items[1:]
	s.note(s.first, &old)
	s.first++
	s.bytes -= old.size()
	s.dropped[old.Kind] += int64(old.Size())
	s.missing = old.number
}

// note notes that the item of an index was read or dropped.
func (s *spool) note(index int, i *item) {
	if index >= s.read {
		s.read = index + 1
		s.unread -= i.size()
	}
}

// end says that nothing more is added.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.cond.Broadcast()
}

// A reader reads a spool.
type reader struct {
	s      *spool
	after  int // the reader has this number
	index  int
	closed bool
}

// newReader returns a reader of what came after the output of a number, 0 for all.
func (s *spool) newReader(after int) *reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers++
	r := &reader{s: s, after: after, index: s.first}
	for n, i := range s.items {
		if i.number > after || i.Late && i.number == after {
			break
		}
		r.index = s.first + n + 1
	}
	if after == 0 {
		r.index = 0
	}
	return r
}

// close ends the reader and its next.
func (r *reader) close() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.s.readers--
		r.s.cond.Broadcast()
	}
}

// next waits for an output. ok is false at the end and after close. If outputs before it
// are missing, missing says so; it is set at the end too.
func (r *reader) next() (o codeinterp.Output, missing gap, ok bool) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for !r.closed && !s.over && r.index >= s.first+len(s.items) {
		s.cond.Wait()
	}
	if s.missing > r.after && r.index <= s.first {
		missing = gap{First: r.after + 1, Last: s.missing, Lost: s.lost()}
	}
	r.index = max(r.index, s.first)
	if r.closed || r.index >= s.first+len(s.items) {
		return o, missing, false
	}
	i := &s.items[r.index-s.first]
	s.note(r.index, i)
	s.cond.Broadcast()
	r.index++
	r.after = max(r.after, i.number)
	return i.Output, missing, true
}

func (s *spool) lost() (list []codeinterp.Truncation) {
	for kind, n := range s.dropped {
		if n > 0 {
			list = append(list, codeinterp.Truncation{Stream: codeinterp.Kind(kind).String(), Bytes: n, Reason: codeinterp.TruncatedByConnection})
		}
	}
	return list
}

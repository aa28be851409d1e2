package scrub

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Stream scrubs outputs on their way to a callback, one at a time. Secrets are found
// across the chunks of a stream; what may be the start of one is held back
// until the next chunk of that stream, or the end of the run.
type Stream struct {
	secrets *Set
	next    func(codeinterp.Output) error
	streams [4]matcher // stdout, stderr, and the same for late output
}

// Stream returns a Stream that passes outputs on to next. s is not nil.
func (s *Set) Stream(next func(codeinterp.Output) error) *Stream {
	r := &Stream{secrets: s, next: next}
	for i := range r.streams {
		r.streams[i].auto = s.auto
	}
	return r
}

// lane returns which of the four streams an output belongs to, -1 for bundles.
func lane(o *codeinterp.Output) int {
	if o.Kind != codeinterp.Stdout && o.Kind != codeinterp.Stderr {
		return -1
	}
	n := int(o.Kind - codeinterp.Stdout)
	if o.Late {
		n += 2
	}
	return n
}

// Output passes o on, as far as it cannot be the start of a secret.
func (r *Stream) Output(o codeinterp.Output) error {
	i := lane(&o)
	if i < 0 {
		r.secrets.bundle(&o)
		return r.next(o)
	}
	if o.Data = r.streams[i].chunk(o.Data); len(o.Data) == 0 {
		return nil
	}
	return r.next(o)
}

// Flush passes on what is held back.
func (r *Stream) Flush() error {
	var errs []error
	for i := range r.streams {
		if rest := r.streams[i].end(nil); len(rest) > 0 {
			o := codeinterp.Output{Kind: codeinterp.Stdout + codeinterp.Kind(i%2), Late: i > 1, Data: rest}
			errs = append(errs, r.next(o))
		}
	}
	return errors.Join(errs...)
}

// A Writer scrubs a text that comes in pieces.
type Writer struct {
	secrets *Set
	emit    func([]byte)
	m       matcher
	after   []byte // what came since a gap, until it is long enough
	gapped  bool
	out     []byte
}

// Writer returns a Writer that passes the text on to emit, in pieces which are
// only good until it returns. It works on nil.
func (s *Set) Writer(emit func([]byte)) *Writer {
	w := &Writer{secrets: s, emit: emit}
	if s != nil {
		w.m.auto = s.auto
	}
	return w
}

// Write takes in the next piece of the text.
func (w *Writer) Write(p []byte) {
	switch {
	case w.secrets == nil:
		w.emit(p)
		return
	case w.gapped:
		w.after = append(w.after, p...)
		// With less it is not sure how much of it is the end of a secret.
		if len(w.after) < w.secrets.auto.longer {
			return
		}
		p = w.resume()
	}
	w.out = w.m.next(w.out[:0], p)
	w.emit(w.out)
}

// resume returns what came since a gap.
func (w *Writer) resume() []byte {
	p := w.after
	if w.gapped {
		w.m.resume(w.secrets, p)
	}
	w.gapped, w.after = false, nil
	return p
}

// Gap says that something is missing in the text after the last piece.
func (w *Writer) Gap() {
	if w.secrets == nil {
		return
	}
	w.out = w.m.next(w.out[:0], w.resume())
	w.emit(w.m.gap(w.out))
	w.gapped = true
}

// Flush passes on what is held back.
func (w *Writer) Flush() {
	if w.secrets != nil {
		w.out = w.m.next(w.out[:0], w.resume())
		w.emit(w.m.end(w.out))
	}
}

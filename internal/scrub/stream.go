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
		r.streams[i].set = s
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

// A Text is a text that comes in pieces.
type Text struct {
	m   matcher
	out []byte
}

// Text returns a Text without secrets. It works on nil.
func (s *Set) Text() Text { return Text{m: matcher{set: s}} }

// Next returns what is certain once p, the next piece, was read. It is valid until the
// next call.
func (t *Text) Next(p []byte) []byte {
	if t.m.set == nil {
		return p
	}
	t.out = t.m.next(t.out[:0], p, false)
	return t.out
}

// End returns what is held back.
func (t *Text) End() []byte {
	if t.m.set == nil {
		return nil
	}
	t.out = t.m.end(t.out[:0])
	return t.out
}

package tools

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

// A streamScrubber scrubs outputs on their way to a callback. Secrets are found
// across the chunks of a stream; what may be the start of one is held back
// until the next chunk of that stream, or the end of the run.
type streamScrubber struct {
	secrets *Secrets
	next    func(codeinterp.Output) error
	streams [4]matcher // stdout, stderr, and the same for late output
}

func (s *Secrets) stream(next func(codeinterp.Output) error) *streamScrubber {
	r := &streamScrubber{secrets: s, next: next}
	for i := range r.streams {
		r.streams[i].auto = &s.auto
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

func (r *streamScrubber) output(o codeinterp.Output) error {
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

// flush passes on what is held back.
func (r *streamScrubber) flush() error {
	var errs []error
	for i := range r.streams {
		if rest := r.streams[i].end(nil); len(rest) > 0 {
			o := codeinterp.Output{Kind: codeinterp.Stdout + codeinterp.Kind(i%2), Late: i > 1, Data: rest}
			errs = append(errs, r.next(o))
		}
	}
	return errors.Join(errs...)
}

// chunk is next without copying where nothing is held or found.
func (m *matcher) chunk(p []byte) []byte {
	if len(m.held) > 0 {
		return m.next(nil, p)
	}
	found, state := m.auto.scan(0, p)
	if found {
		return m.next(nil, p)
	}
	n := len(p) - int(m.auto.depth[state])
	m.state = state
	m.held = append(m.held, p[n:]...)
	return p[:n:n]
}

// result scrubs all that a Result says. What is changed is copied.
func (s *Secrets) result(res codeinterp.Result) codeinterp.Result {
	if s == nil {
		return res
	}
	res.Outputs = s.outputs(res.Outputs)
	if res.Error != nil {
		e := *res.Error
		e.Name, e.Message, e.MissingModule = s.Scrub(e.Name), s.Scrub(e.Message), s.Scrub(e.MissingModule)
		e.Traceback, e.RawTraceback = s.lines(e.Traceback), s.lines(e.RawTraceback)
		res.Error = &e
	}
	res.Artifacts = slices.Clone(res.Artifacts)
	for i := range res.Artifacts {
		res.Artifacts[i].Path = s.Scrub(res.Artifacts[i].Path)
	}
	res.CallbackErr = s.err(res.CallbackErr)
	return res
}

func (s *Secrets) lines(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = s.Scrub(list[i])
	}
	return list
}

// outputs scrubs a Result's outputs. A stream is taken as a whole, also where
// other outputs stand between its parts or bytes of it were dropped: what is
// left of a secret at such an edge is masked as well.
func (s *Secrets) outputs(list []codeinterp.Output) []codeinterp.Output {
	list = slices.Clone(list)
	var streams [4]matcher
	var last [4]int
	for i := range streams {
		streams[i].auto = &s.auto
		last[i] = -1
	}
	for i := range list {
		o := &list[i]
		n := lane(o)
		if n < 0 {
			s.bundle(o)
			continue
		}
		if o.Dropped > 0 {
			s.edge(&streams[n], list, last[n], o)
		}
		o.Data = streams[n].chunk(o.Data)
		last[n] = i
	}
	for n := range streams {
		if rest := streams[n].end(nil); len(rest) > 0 {
			o := &list[last[n]]
			o.Data = append(o.Data[:len(o.Data):len(o.Data)], rest...)
		}
	}
	return slices.DeleteFunc(list, func(o codeinterp.Output) bool {
		return lane(&o) >= 0 && len(o.Data) == 0 && o.Dropped == 0
	})
}

// edge masks what is left of a secret on both sides of a gap before o.
func (s *Secrets) edge(m *matcher, list []codeinterp.Output, before int, o *codeinterp.Output) {
	if held := len(m.held); held > 0 && before >= 0 {
		rest := m.end(nil)
		if held >= minSecret {
			rest = mask
		}
		b := &list[before]
		b.Data = append(b.Data[:len(b.Data):len(b.Data)], rest...)
	}
	if n := s.auto.suffix(o.Data); n >= minSecret {
		o.Data = append(mask[:len(mask):len(mask)], o.Data[n:]...)
	}
}

// bundle scrubs the texts of a display or a value. A JSON value that is no
// longer JSON becomes a string.
func (s *Secrets) bundle(o *codeinterp.Output) {
	o.DisplayID = s.Scrub(o.DisplayID)
	o.Value, o.Metadata = s.json(o.Value), s.json(o.Metadata)
	copied := false
	for i, rep := range o.Bundle {
		if !codeinterp.IsText(rep.MIME) && !codeinterp.IsJSON(rep.MIME) {
			continue
		}
		data, changed := s.scrub(rep.Data)
		if !changed {
			continue
		}
		if !copied {
			o.Bundle, copied = slices.Clone(o.Bundle), true
		}
		if codeinterp.IsJSON(rep.MIME) {
			data = s.json(rep.Data)
		}
		o.Bundle[i].Data = data
	}
}

func (s *Secrets) json(raw json.RawMessage) json.RawMessage {
	data, changed := s.scrub(raw)
	if changed && !json.Valid(data) {
		return json.RawMessage(`"[secret]"`)
	}
	return data
}

// err returns an error whose text is scrubbed and that wraps what err wraps.
func (s *Secrets) err(err error) error {
	if s == nil || err == nil {
		return err
	}
	text := err.Error()
	if clean := s.Scrub(text); clean != text {
		return &scrubbedError{clean, err}
	}
	return err
}

// scrubbedError hides the text of an error, and keeps what it is.
type scrubbedError struct {
	text string
	err  error
}

func (e *scrubbedError) Error() string { return e.text }

// Is and not Unwrap, which would lead to the text.
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }

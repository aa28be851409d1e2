package tools

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

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

// A scrubWriter scrubs a text that comes in pieces.
type scrubWriter struct {
	secrets *Secrets
	emit    func([]byte)
	m       matcher
	after   []byte // what came since a gap, until it is long enough
	gapped  bool
	out     []byte
}

// writer returns a scrubWriter that passes the text on to emit. It works on nil.
func (s *Secrets) writer(emit func([]byte)) *scrubWriter {
	w := &scrubWriter{secrets: s, emit: emit}
	if s != nil {
		w.m.auto = s.auto
	}
	return w
}

func (w *scrubWriter) write(p []byte) {
	switch {
	case w.secrets == nil:
		w.emit(p)
		return
	case w.gapped:
		w.after = append(w.after, p...)
		if len(w.after) < w.secrets.auto.longer {
			return
		}
		p = w.resume()
	}
	w.out = w.m.next(w.out[:0], p)
	w.emit(w.out)
}

// resume returns what came since a gap.
func (w *scrubWriter) resume() []byte {
	p := w.after
	if w.gapped {
		w.m.resume(w.secrets, p)
	}
	w.gapped, w.after = false, nil
	return p
}

// gap tells that something is missing in the text.
func (w *scrubWriter) gap() {
	if w.secrets == nil {
		return
	}
	w.out = w.m.next(w.out[:0], w.resume())
	w.emit(w.m.gap(w.out))
	w.gapped = true
}

// flush passes on what is held back.
func (w *scrubWriter) flush() {
	if w.secrets != nil {
		w.out = w.m.next(w.out[:0], w.resume())
		w.emit(w.m.end(w.out))
	}
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
		res.Artifacts[i].Path = s.name(res.Artifacts[i].Path)
	}
	res.Calls = slices.Clone(res.Calls)
	for i := range res.Calls {
		s.record(&res.Calls[i])
	}
	res.CallbackErr = s.err(res.CallbackErr)
	return res
}

// record scrubs what is told of a call.
func (s *Secrets) record(c *codeinterp.CallRecord) {
	if s != nil {
		c.Name, c.Args, c.Result, c.Error, c.Err = s.excerpt(c.Name), s.excerpt(c.Args), s.excerpt(c.Result), s.excerpt(c.Error), s.err(c.Err)
	}
}

// excerpt scrubs text that is perhaps only a beginning, so that it may end within
// a secret.
func (s *Secrets) excerpt(text string) string {
	if len(text) < codeinterp.MaxRecorded-utf8.UTFMax {
		return s.Scrub(text)
	}
	m := matcher{auto: s.auto}
	return string(m.gap(slices.Clone(m.chunk([]byte(text)))))
}

// lines scrubs lines that belong together, so that a secret of several lines is
// found.
func (s *Secrets) lines(list []string) []string {
	text := strings.Join(list, "\n")
	if clean := s.Scrub(text); clean != text {
		return strings.Split(clean, "\n")
	}
	return list
}

// outputs scrubs a Result's outputs. A stream is taken as a whole, also where
// other outputs stand between its parts or bytes of it were dropped: what is
// left of a secret at such a gap is masked as well.
func (s *Secrets) outputs(list []codeinterp.Output) []codeinterp.Output {
	list = slices.Clone(list)
	var streams [4]matcher
	var last [4]int
	for i := range streams {
		streams[i].auto = s.auto
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
			if b := last[n]; b >= 0 {
				list[b].Data = joined(list[b].Data, streams[n].gap(nil))
			}
			streams[n].resume(s, o.Data)
		}
		o.Data = streams[n].chunk(o.Data)
		last[n] = i
	}
	for n := range streams {
		if rest := streams[n].end(nil); len(rest) > 0 {
			o := &list[last[n]]
			o.Data = joined(o.Data, rest)
		}
	}
	return slices.DeleteFunc(list, func(o codeinterp.Output) bool {
		return lane(&o) >= 0 && len(o.Data) == 0 && o.Dropped == 0
	})
}

// name scrubs a name, which is shown cleaned.
func (s *Secrets) name(text string) string {
	text = s.Scrub(text)
	shown := CleanText(text)
	if clean := s.Scrub(shown); clean != shown {
		return clean
	}
	return text
}

// joined returns the two texts in new memory.
func joined(a, b []byte) []byte { return append(a[:len(a):len(a)], b...) }

// bundle scrubs the texts of a display or a value. A JSON value that is no
// longer JSON becomes a string.
func (s *Secrets) bundle(o *codeinterp.Output) {
	o.DisplayID = s.name(o.DisplayID)
	o.Value, o.Metadata = s.json(o.Value), s.json(o.Metadata)
	o.Bundle = slices.Clone(o.Bundle)
	for i := range o.Bundle {
		rep := &o.Bundle[i]
		switch {
		case codeinterp.IsJSON(rep.MIME):
			rep.Data = s.json(rep.Data)
		case codeinterp.IsText(rep.MIME):
			rep.Data, _ = s.scrub(rep.Data)
		}
		rep.MIME = s.name(rep.MIME)
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

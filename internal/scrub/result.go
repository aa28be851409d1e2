package scrub

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
)

// Result scrubs a Result, with the contents of files that are UTF-8. It copies what it
// changes. It works on nil.
func (s *Set) Result(res codeinterp.Result) codeinterp.Result {
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
		f := &res.Artifacts[i]
		f.Path, f.MIME = s.Name(f.Path), s.Name(f.MIME)
		if utf8.Valid(f.Data) {
			f.Data, _ = s.scrub(f.Data)
		}
	}
	res.Calls = slices.Clone(res.Calls)
	for i := range res.Calls {
		s.Record(&res.Calls[i])
	}
	res.CallbackErr = s.Error(res.CallbackErr)
	return res
}

// Record scrubs the record of a call. It works on nil.
func (s *Set) Record(c *codeinterp.CallRecord) {
	if s != nil {
		c.Name, c.Args, c.Result, c.Error, c.Err = s.excerpt(c.Name), s.excerpt(c.Args), s.excerpt(c.Result), s.excerpt(c.Error), s.Error(c.Err)
	}
}

// excerpt scrubs text that is perhaps only a beginning, so that it may end within
// a secret.
func (s *Set) excerpt(text string) string {
	// A record is cut at MaxRecorded or, so as not to split a character, just
	// before.
	if len(text) < codeinterp.MaxRecorded-utf8.UTFMax {
		return s.Scrub(text)
	}
	m := matcher{set: s}
	return string(m.gap(slices.Clone(m.chunk([]byte(text)))))
}

// lines scrubs lines that belong together, so that a secret of several lines is
// found.
func (s *Set) lines(list []string) []string {
	text := strings.Join(list, "\n")
	if clean := s.Scrub(text); clean != text {
		return strings.Split(clean, "\n")
	}
	return list
}

// outputs scrubs a Result's outputs. A stream is taken as a whole, also where
// other outputs stand between its parts or bytes of it were dropped: what is
// left of a secret at such a gap is masked as well.
func (s *Set) outputs(list []codeinterp.Output) []codeinterp.Output {
	list = slices.Clone(list)
	var streams [4]matcher
	var last [4]int
	for i := range streams {
		streams[i].set = s
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
			o.Data = streams[n].resume(o.Data)
		} else {
			o.Data = streams[n].chunk(o.Data)
		}
		last[n] = i
	}
	for n := range streams {
		if rest := streams[n].end(nil); len(rest) > 0 {
			o := &list[last[n]]
			o.Data = joined(o.Data, rest)
		}
	}
	return slices.DeleteFunc(list, func(o codeinterp.Output) bool {
		// An output without text may still tell what is missing before it.
		return lane(&o) >= 0 && len(o.Data) == 0 && o.Dropped == 0
	})
}

// Name scrubs a name, also a secret that only removing control sequences puts together.
// It works on nil.
func (s *Set) Name(text string) string {
	if s == nil {
		return text
	}
	text = s.Scrub(text)
	shown := plaintext.Clean(text)
	if clean := s.Scrub(shown); clean != shown {
		return clean
	}
	return text
}

// joined returns the two texts in new memory.
func joined(a, b []byte) []byte { return append(a[:len(a):len(a)], b...) }

// bundle scrubs the texts of a display or a value. A JSON value that is no
// longer JSON becomes a string.
func (s *Set) bundle(o *codeinterp.Output) {
	o.DisplayID = s.Name(o.DisplayID)
	o.Value, o.Metadata = s.json(o.Value), s.json(o.Metadata)
	o.Bundle = slices.Clone(o.Bundle)
	for i := range o.Bundle {
		rep := &o.Bundle[i]
		switch {
		case codeinterp.IsJSON(rep.MIME):
			rep.Data = s.json(rep.Data)
		case codeinterp.IsText(rep.MIME), !codeinterp.IsBinary(rep.MIME) && utf8.Valid(rep.Data):
			rep.Data, _ = s.scrub(rep.Data)
		}
		rep.MIME = s.Name(rep.MIME)
	}
}

func (s *Set) json(raw json.RawMessage) json.RawMessage {
	data, changed := s.scrub(raw)
	if changed && !json.Valid(data) {
		return json.RawMessage(`"[secret]"`)
	}
	return data
}

// Error returns an error whose text is scrubbed and that is what err is. It
// works on nil.
func (s *Set) Error(err error) error {
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

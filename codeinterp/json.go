package codeinterp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// resultJSON is the wire form of a Result.
type resultJSON struct {
	Status         Status          `json:"status"`
	ExitCode       int             `json:"exitCode"`
	Outputs        []Output        `json:"outputs"`
	Error          string          `json:"error,omitempty"`
	ErrorDetail    *ProgramError   `json:"errorDetail,omitempty"`
	Cause          Cause           `json:"cause,omitempty"`
	StateLost      bool            `json:"stateLost,omitempty"`
	ExecutionCount int             `json:"executionCount,omitempty"`
	DurationMs     int64           `json:"durationMs,omitempty"`
	Truncated      []truncatedJSON `json:"truncated,omitempty"`
	Artifacts      []Artifact      `json:"artifacts,omitempty"`
	Calls          []CallRecord    `json:"calls,omitempty"`
	Refusals       []string        `json:"refusals,omitempty"`
}

type callJSON struct {
	Number     int    `json:"number"`
	Name       string `json:"name"`
	Args       string `json:"args,omitempty"`
	Result     string `json:"result,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Error      string `json:"error,omitempty"`
}

type truncatedJSON struct {
	Stream string           `json:"stream"`
	Bytes  *int64           `json:"bytes,omitempty"`
	Kept   int64            `json:"kept"`
	Files  int              `json:"files,omitempty"`
	Reason TruncationReason `json:"reason"`
}

// MarshalJSON returns the wire form: status, exitCode and outputs always, the
// rest where it has something to say. CallbackErr and parts of a millisecond
// are not in it; text that is not UTF-8 outside of streams has each faulty
// byte replaced by U+FFFD.
func (r Result) MarshalJSON() ([]byte, error) {
	w := resultJSON{
		Status: r.Status, ExitCode: r.ExitCode, Outputs: r.Outputs, ErrorDetail: r.Error, Cause: r.Cause, StateLost: r.StateLost,
		ExecutionCount: r.ExecutionCount, DurationMs: r.Duration.Milliseconds(), Artifacts: r.Artifacts, Calls: r.Calls, Refusals: r.Refusals,
	}
	if w.Outputs == nil {
		w.Outputs = []Output{}
	}
	if r.Error != nil {
		w.Error = r.Error.Error()
	}
	for _, t := range r.Truncated {
		j := truncatedJSON{Stream: t.Stream, Kept: t.Kept, Files: t.Files, Reason: t.Reason}
		if t.Bytes >= 0 {
			j.Bytes = &t.Bytes
		}
		w.Truncated = append(w.Truncated, j)
	}
	return marshal(w)
}

// UnmarshalJSON reads the wire form.
func (r *Result) UnmarshalJSON(b []byte) error {
	var w resultJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Result{
		Status: w.Status, ExitCode: w.ExitCode, Outputs: w.Outputs, Error: w.ErrorDetail, Cause: w.Cause, StateLost: w.StateLost,
		ExecutionCount: w.ExecutionCount, Duration: time.Duration(w.DurationMs) * time.Millisecond,
		Artifacts: w.Artifacts, Calls: w.Calls, Refusals: w.Refusals,
	}
	if r.Error == nil && w.Error != "" {
		r.Error = &ProgramError{Message: w.Error}
	}
	for _, t := range w.Truncated {
		n := Truncation{Stream: t.Stream, Bytes: -1, Kept: t.Kept, Files: t.Files, Reason: t.Reason}
		if t.Bytes != nil {
			n.Bytes = *t.Bytes
		}
		r.Truncated = append(r.Truncated, n)
	}
	return nil
}

// MarshalJSON returns the wire form, without Err.
func (c CallRecord) MarshalJSON() ([]byte, error) {
	return marshal(callJSON{c.Number, c.Name, c.Args, c.Result, c.Duration.Milliseconds(), c.Error})
}

// UnmarshalJSON reads the wire form.
func (c *CallRecord) UnmarshalJSON(b []byte) error {
	var w callJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = CallRecord{Number: w.Number, Name: w.Name, Args: w.Args, Result: w.Result,
		Duration: time.Duration(w.DurationMs) * time.Millisecond, Error: w.Error}
	return nil
}

// outputJSON is the wire form of an Output.
type outputJSON struct {
	Type string `json:"type"`
	repJSON
	Value        json.RawMessage `json:"value,omitempty"`
	Alternatives []repJSON       `json:"alternatives,omitempty"`
	DisplayID    string          `json:"displayId,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Update       bool            `json:"update,omitempty"`
	Wait         bool            `json:"wait,omitempty"`
	Late         bool            `json:"late,omitempty"`
	Dropped      int64           `json:"dropped,omitempty"`
}

// repJSON is the wire form of a Representation, or of a stream's bytes: one of
// text, json and data.
type repJSON struct {
	MIME string          `json:"mime,omitempty"`
	Text *string         `json:"text,omitempty"`
	JSON json.RawMessage `json:"json,omitempty"`
	Data []byte          `json:"data,omitempty"`
}

// MarshalJSON returns the wire form of the output's kind. A Value or Metadata
// that is not JSON, or is nested more than 9000 deep, is left out, and each byte
// of it that is not UTF-8 replaced by U+FFFD. Around it, json.Marshal writes <, >
// and & as escapes, also within JSON that the program produced.
func (o Output) MarshalJSON() ([]byte, error) {
	w := outputJSON{
		Type: o.Kind.String(), Value: validJSON(o.Value), DisplayID: o.DisplayID, Metadata: validJSON(o.Metadata),
		Update: o.Update, Wait: o.Wait, Late: o.Late, Dropped: o.Dropped,
	}
	rest := o.Bundle
	switch o.Kind {
	case Stdout, Stderr:
		w.repJSON = newRepJSON("", o.Data, true)
	case Display:
		if len(rest) > 0 {
			w.repJSON = newRepJSON(rest[0].MIME, rest[0].Data, IsText(rest[0].MIME))
			rest = rest[1:]
		}
	case Value:
		rest = nil
		for _, rep := range o.Bundle {
			if rep.MIME == "text/plain" && w.Text == nil && utf8.Valid(rep.Data) {
				w.Text = new(string(rep.Data))
			} else {
				rest = append(rest, rep)
			}
		}
	case Clear:
	default:
		return nil, fmt.Errorf("codeinterp: output of unknown kind %d", o.Kind)
	}
	for _, rep := range rest {
		w.Alternatives = append(w.Alternatives, newRepJSON(rep.MIME, rep.Data, IsText(rep.MIME)))
	}
	return marshal(w)
}

// maxNesting is how deep JSON of a program may be nested: encoding/json refuses a
// document of more than 10,000 levels, and a Result may stand within another.
const maxNesting = 9000

// DeeperThan reports whether raw, a piece of JSON, is nested deeper than most, without
// a stack that grows with it: for what is to be decoded by code whose stack does.
// Where raw is no JSON, the answer means nothing.
func DeeperThan(raw []byte, most int) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth > most {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// validJSON keeps one faulty piece from spoiling the whole document: it drops
// what is no JSON or nested too deep, and replaces each byte that is not UTF-8, which json.Valid
// lets pass.
func validJSON(raw json.RawMessage) json.RawMessage {
	switch {
	case !json.Valid(raw) || DeeperThan(raw, maxNesting):
		return nil
	case !utf8.Valid(raw):
		return json.RawMessage(string([]rune(string(raw))))
	}
	return raw
}

// newRepJSON chooses the form that keeps every byte.
func newRepJSON(mime string, data []byte, text bool) repJSON {
	r := repJSON{MIME: mime}
	switch {
	case text && utf8.Valid(data):
		r.Text = new(string(data))
	case IsJSON(mime) && utf8.Valid(data) && isCompact(data) && !DeeperThan(data, maxNesting):
		r.JSON = data
	default:
		r.Data = data
	}
	return r
}

// isCompact reports whether data is JSON that the encoder leaves as it is.
func isCompact(data []byte) bool {
	var b bytes.Buffer
	return json.Compact(&b, data) == nil && bytes.Equal(b.Bytes(), data)
}

func (r repJSON) bytes() []byte {
	switch {
	case r.Text != nil:
		return []byte(*r.Text)
	case r.JSON != nil:
		return r.JSON
	}
	return r.Data
}

// UnmarshalJSON reads the wire form.
func (o *Output) UnmarshalJSON(b []byte) error {
	var w outputJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*o = Output{
		Value: w.Value, DisplayID: w.DisplayID, Metadata: w.Metadata,
		Update: w.Update, Wait: w.Wait, Late: w.Late, Dropped: w.Dropped,
	}
	o.Kind = Kind(max(slices.Index(kindNames[1:], w.Type)+1, 0))
	switch o.Kind {
	case 0:
		return fmt.Errorf("codeinterp: output of unknown type %q", w.Type)
	case Stdout, Stderr:
		o.Data = w.bytes()
	case Display:
		if w.MIME == "" && w.bytes() != nil {
			return errNoMIME
		}
		if w.MIME != "" {
			o.Bundle = append(o.Bundle, Representation{w.MIME, w.bytes()})
		}
	case Value:
		if w.Text != nil {
			o.Bundle = append(o.Bundle, Representation{"text/plain", []byte(*w.Text)})
		}
	}
	for _, a := range w.Alternatives {
		if a.MIME == "" {
			return errNoMIME
		}
		o.Bundle = append(o.Bundle, Representation{a.MIME, a.bytes()})
	}
	// The wire form takes the text out of its place in the bundle.
	if o.Kind == Value && w.Text != nil {
		SortBundle(o.Bundle)
	}
	return nil
}

var errNoMIME = errors.New("codeinterp: a representation without a MIME type")

// marshal is json.Marshal without the escaping of <, > and &, which models
// read as noise.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

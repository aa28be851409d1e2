package frames

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

// What a driver sends is bounded there already; a driver that sends more is
// not ours any more.
const (
	maxID        = 1 << 10 // bytes of a display id, an error's name, a module's name
	maxMIME      = 256     // bytes of a MIME type
	maxBundle    = 64      // representations of one show
	maxMetadata  = 64 << 10
	maxValue     = 1 << 20
	maxMessage   = 64 << 10  // bytes of an error's message
	maxTraceback = 256 << 10 // bytes of an error's traceback

	// MaxLost bounds how much a driver may say that it left out: no program has
	// that much memory.
	MaxLost = 1 << 40
)

// firstMIME is the field where the representations of a show begin.
const firstMIME = 6

// DecodeShow returns the output that a driver shows.
func DecodeShow(f *Frame) (codeinterp.Output, error) {
	o := codeinterp.Output{DisplayID: string(f.Field(3))}
	switch kind := string(f.Field(2)); kind {
	case "clear", "clear wait":
		return codeinterp.Output{Kind: codeinterp.Clear, Wait: kind == "clear wait"}, nil
	case "result":
		o.Kind = codeinterp.Value
	case "display", "update":
		o.Kind, o.Update = codeinterp.Display, kind == "update"
	default:
		return o, fmt.Errorf("%w: a show of kind %.20q", ErrFrame, kind)
	}
	if len(o.DisplayID) > maxID || len(f.fields) > firstMIME+2*maxBundle {
		return o, fmt.Errorf("%w: a show with an id of %d bytes and %d fields", ErrFrame, len(o.DisplayID), len(f.fields))
	}
	for _, at := range []struct {
		to  *json.RawMessage
		i   int
		max int
	}{{&o.Metadata, 4, maxMetadata}, {&o.Value, 5, maxValue}} {
		if b := f.Field(at.i); len(b) > 0 {
			if len(b) > at.max || !json.Valid(b) {
				return o, fmt.Errorf("%w: a show with bad JSON", ErrFrame)
			}
			*at.to = json.RawMessage(b)
		}
	}
	if len(o.Metadata) > 0 && o.Metadata[0] != '{' {
		o.Metadata = nil // of an Output it is an object
	}
	for i := firstMIME; i+1 < len(f.fields); i += 2 {
		rep := codeinterp.Representation{MIME: string(f.fields[i]), Data: f.fields[i+1]}
		text := codeinterp.IsText(rep.MIME) || codeinterp.IsJSON(rep.MIME)
		if rep.MIME == "" || len(rep.MIME) > maxMIME || text && !utf8.Valid(rep.Data) || codeinterp.IsJSON(rep.MIME) && !json.Valid(rep.Data) {
			return o, fmt.Errorf("%w: a show with bad %.100q", ErrFrame, rep.MIME)
		}
		o.Bundle = append(o.Bundle, rep)
	}
	codeinterp.SortBundle(o.Bundle)
	return o, nil
}

// A Report is what a driver says about the end of a program.
type Report struct {
	How  string // "ok", "error", "exit", "interrupt" or "gone"
	Code int
	Err  *codeinterp.ProgramError
	Lost int64 // bytes that were left out of err
}

// DecodeReport returns the report of a done frame.
func DecodeReport(f *Frame) (*Report, error) {
	r := &Report{How: string(f.Field(1)), Code: f.Number(2)}
	switch r.How {
	case "ok", "error", "exit", "interrupt", "gone":
	default:
		return nil, fmt.Errorf("%w: a run that ended as %q", ErrFrame, r.How)
	}
	if r.Code < 0 || r.Code > 255 {
		return nil, fmt.Errorf("%w: exit code %q", ErrFrame, f.Field(2))
	}
	r.Lost = min(int64(max(f.Number(8), 0)), MaxLost)
	text := func(i, limit int) string {
		s, lost := shorten.Middle(f.Field(i), limit)
		r.Lost += lost
		return s
	}
	name, message := text(3, maxID), text(4, maxMessage)
	if name == "" && message == "" {
		return r, nil
	}
	r.Err = &codeinterp.ProgramError{Name: name, Message: message, Line: max(f.Number(5), 0), MissingModule: text(6, maxID)}
	if lines := strings.TrimRight(text(7, maxTraceback), "\n"); lines != "" {
		r.Err.Traceback = strings.Split(lines, "\n")
	}
	return r, nil
}

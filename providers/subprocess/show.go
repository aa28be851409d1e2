package subprocess

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// decodeShow returns the output that a driver shows.
func decodeShow(f *frame) (codeinterp.Output, error) {
	o := codeinterp.Output{DisplayID: string(f.field(3))}
	switch kind := string(f.field(2)); kind {
	case "clear", "clear wait":
		return codeinterp.Output{Kind: codeinterp.Clear, Wait: kind == "clear wait"}, nil
	case "result":
		o.Kind = codeinterp.Value
	case "display", "update":
		o.Kind, o.Update = codeinterp.Display, kind == "update"
	default:
		return o, fmt.Errorf("%w: a show of kind %q", errFrame, kind)
	}
	for _, at := range []struct {
		to *json.RawMessage
		i  int
	}{{&o.Metadata, 4}, {&o.Value, 5}} {
		if b := f.field(at.i); len(b) > 0 {
			if !json.Valid(b) {
				return o, fmt.Errorf("%w: a show with bad JSON", errFrame)
			}
			*at.to = json.RawMessage(b)
		}
	}
	for i := 6; i+1 < len(f.fields); i += 2 {
		rep := codeinterp.Representation{MIME: string(f.fields[i]), Data: f.fields[i+1]}
		text := codeinterp.IsText(rep.MIME) || codeinterp.IsJSON(rep.MIME)
		if rep.MIME == "" || text && !utf8.Valid(rep.Data) || codeinterp.IsJSON(rep.MIME) && !json.Valid(rep.Data) {
			return o, fmt.Errorf("%w: a show with bad %q", errFrame, rep.MIME)
		}
		o.Bundle = append(o.Bundle, rep)
	}
	codeinterp.SortBundle(o.Bundle)
	return o, nil
}

// A report is what a driver says about the end of a program.
type report struct {
	how  string // "ok", "error", "exit" or "interrupt"
	code int
	err  *codeinterp.ProgramError
}

// decodeReport returns the report of a done frame.
func decodeReport(f *frame) (*report, error) {
	r := &report{how: string(f.field(1)), code: f.number(2)}
	switch r.how {
	case "ok", "error", "exit", "interrupt":
	default:
		return nil, fmt.Errorf("%w: a run that ended as %q", errFrame, r.how)
	}
	if r.code < 0 || r.code > 255 {
		return nil, fmt.Errorf("%w: exit code %q", errFrame, f.field(2))
	}
	if name, message := clean(f.field(3)), clean(f.field(4)); name != "" || message != "" {
		r.err = &codeinterp.ProgramError{Name: name, Message: message, Line: max(f.number(5), 0), MissingModule: clean(f.field(6))}
		if text := strings.TrimRight(clean(f.field(7)), "\n"); text != "" {
			r.err.Traceback = strings.Split(text, "\n")
		}
	}
	return r, nil
}

// clean returns b as valid UTF-8.
func clean(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

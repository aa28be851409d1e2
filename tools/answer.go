package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Answer is the answer to one call. It must not be changed, and may be shared.
type Answer struct {
	// CallID and Tool say which call it answers.
	CallID, Tool string

	// Remembered says that nothing ran: this is the answer to an earlier, equal call.
	// See [SetOptions.RememberFor].
	Remembered bool

	// Text is what the model reads. For a run it is the output, cleaned and cut; for
	// any other call, and for one that failed, it is the JSON.
	Text string

	// Images are the images of the text, in order: "[image 1]" is the first.
	Images []Image

	// Failure is set if the call failed. A program that fails is not a Failure.
	Failure *Failure

	// Result is the whole outcome of a run within the provider's own limit, scrubbed
	// of secrets. It is nil if nothing ran.
	Result *codeinterp.Result

	// Err is the error of the interpreter, if any, for the caller. The Result may be
	// partial then.
	Err error

	// OutputID names the whole output in Options.Outputs, if Text lacks some of it.
	OutputID string

	// Data is the JSON answer of tools that run no code.
	Data json.RawMessage

	view *view
	hint string
}

// JSON returns the answer in JSON: for a run its Result, cut like Text, with sizes and
// image numbers in place of binary data, and values of more than 4 KiB as text; for a
// call that failed {"error": ...}.
func (r *Answer) JSON() json.RawMessage {
	switch {
	case r.Failure != nil:
		return r.Failure.JSON()
	case r.view != nil:
		return r.view.json(r.hint, r.OutputID)
	}
	return r.Data
}

// fail returns the answer to a call that failed.
func fail(id, tool string, f *Failure, err error) *Answer {
	return &Answer{CallID: id, Tool: tool, Text: string(f.JSON()), Failure: f, Err: err}
}

// invalid returns the answer to a call with invalid arguments.
func (k *kit) invalid(id, tool, code string, f faults) *Answer {
	message := k.Secrets.Scrub(strings.Join(f, "; ")) + ". Nothing was run."
	if len(f) > 1 {
		message = fmt.Sprintf("%d faults: %s", len(f), message)
	}
	return fail(id, tool, &Failure{code, message}, fmt.Errorf("%w: %s", codeinterp.ErrInvalid, message))
}

// answer returns the answer of a tool that runs no code.
func answer(id, tool string, data any) *Answer {
	raw := marshal(data)
	return &Answer{CallID: id, Tool: tool, Text: string(raw), Data: raw}
}

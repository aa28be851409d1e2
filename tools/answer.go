package tools

import (
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// An Answer is the answer to one call. It is not changed once it was returned,
// and may be shared.
type Answer struct {
	// CallID and Tool say which call it answers.
	CallID, Tool string

	// Remembered says that nothing ran: this is the answer to the same call
	// before. See [SetOptions.RememberFor].
	Remembered bool

	// Text is what the model reads, and stands alone. For a run it is the
	// output, cleaned and cut; for every other call, and for one that
	// failed, the same as JSON.
	Text string

	// Images are the pictures that go with the text, in order: "[image 1]"
	// in the text is the first.
	Images []Image

	// Failure is set where the call failed, other than by the program's own
	// doing.
	Failure *Failure

	// Result is the whole outcome of a run, uncut but for the provider's own
	// limit and scrubbed of secrets. Nil where nothing was run.
	Result *codeinterp.Result

	// Err is the error that the interpreter returned, if any, for the
	// caller. It may be set beside a Result that is partial.
	Err error

	// OutputID names the whole output in Options.Outputs, where Text lacks
	// some of it.
	OutputID string

	// Data is the answer in JSON of tools that run no code.
	Data json.RawMessage

	view *view
	hint string
}

// JSON returns the answer in JSON: for a run its Result, cut like Text, with
// binary data replaced by its size and by where the image is, and a value of
// more than 4 KiB by its text; {"error": ...} for a call that failed.
func (r *Answer) JSON() json.RawMessage {
	switch {
	case r.Failure != nil:
		return r.Failure.JSON()
	case r.view != nil:
		return r.view.json(r.hint, r.OutputID)
	}
	return r.Data
}

// fail is the answer to a call that failed.
func fail(id, tool string, f *Failure, err error) *Answer {
	return &Answer{CallID: id, Tool: tool, Text: string(f.JSON()), Failure: f, Err: err}
}

// invalid is the answer to a call with faulty arguments.
func invalid(id, tool, code string, f faults) *Answer {
	message := ""
	for i, s := range f {
		if i > 0 {
			message += "; "
		}
		message += s
	}
	if len(f) > 1 {
		message = fmt.Sprintf("%d faults: %s", len(f), message)
	}
	message += ". Nothing was run."
	return fail(id, tool, &Failure{code, message}, fmt.Errorf("%w: %s", codeinterp.ErrInvalid, message))
}

// answer is the answer of a tool that runs no code.
func answer(id, tool string, data any) *Answer {
	raw := marshal(data)
	return &Answer{CallID: id, Tool: tool, Text: string(raw), Data: raw}
}

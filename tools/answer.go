package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/shell"
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

// The codes of a [Failure].
const (
	CodeInvalid      = "invalid_arguments"    // the call is malformed; nothing ran
	CodeUnknownTool  = "unknown_tool"         // no tool has that name
	CodeLanguage     = "unsupported_language" // the interpreter does not have it
	CodeContext      = "context_not_found"    // never existed, expired or deleted
	CodeOutput       = "output_not_found"     // never existed, or no longer kept
	CodeCommand      = "command_not_found"    // never existed, or no longer kept
	CodeFileNotFound = "file_not_found"       // no file has that path
	CodeFile         = "file_error"           // the file is not what it has to be, or cannot be had
	CodeCapacity     = "capacity"             // the same call may work later
	CodeClosed       = "closed"               // the interpreter was closed
	CodeUnavailable  = "unavailable"          // the runtime or the server is missing or down
	CodeIsolation    = "isolation"            // the required isolation cannot be had
	CodeRefused      = "refused"              // a policy refused the call
	CodeCanceled     = "canceled"             // the caller gave up before anything ran
	CodeFailed       = "tool_failed"          // a tool of others ran, or may have, and failed in its own words
	CodeInternal     = "internal"             // a fault of ours or of the provider's
)

// A Failure is a call that failed, other than by the program's own doing.
type Failure struct {
	// Code is one of the codes above.
	Code string `json:"code"`
	// Message says to a model what is wrong and what to do next.
	Message string `json:"message"`
}

// JSON returns {"error": {"code": ..., "message": ...}}.
func (f *Failure) JSON() json.RawMessage {
	return marshal(struct {
		Error *Failure `json:"error"`
	}{f})
}

// advice says for each code what a model does next.
var advice = map[string]string{
	CodeContext:      "contexts expire and are deleted; create a new one and run there what it needs",
	CodeCommand:      "commands that ended are forgotten after some time; list those that are left",
	CodeFileNotFound: "list the directory to see what is there",
	CodeCapacity:     "wait and send the call again",
	CodeClosed:       "it cannot be used any more",
	CodeUnavailable:  "the code did not run; the same call may work later",
	CodeIsolation:    "the code did not run; only the operator can change that",
	CodeRefused:      "do it in another way or ask the user",
	CodeCanceled:     "the code did not run",
	CodeInternal:     "this is no fault of the call",
}

// codes are the codes of errors, the most telling first.
var codes = []struct {
	err  error
	code string
}{
	{codeinterp.ErrLanguage, CodeLanguage},
	{shell.ErrCommand, CodeCommand},
	{codeinterp.ErrContext, CodeContext},
	{codeinterp.ErrInvalid, CodeInvalid},
	{codeinterp.ErrClosed, CodeClosed},
	{codeinterp.ErrCapacity, CodeCapacity},
	{codeinterp.ErrIsolation, CodeIsolation},
	{codeinterp.ErrPaused, CodeUnavailable},
	{codeinterp.ErrRefused, CodeRefused},
	{codeinterp.ErrUnavailable, CodeUnavailable},
	{git.ErrMissing, CodeUnavailable},
	{git.ErrGit, CodeFailed},
	{errOutput, CodeOutput},
	{context.Canceled, CodeCanceled},
	{context.DeadlineExceeded, CodeCanceled},
}

// CodeOf returns the code of a [Failure] for an interpreter's error.
func CodeOf(err error) string {
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return CodeInternal
}

// failureOf returns the Failure for an interpreter's error.
func failureOf(err error) *Failure {
	code := CodeOf(err)
	message := err.Error()
	if a := advice[code]; a != "" {
		message += "; " + a
	}
	return &Failure{Code: code, Message: shorten.Head(message, 4<<10)}
}

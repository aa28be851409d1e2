package tools

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/shell"
)

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
	{codeinterp.ErrRefused, CodeRefused},
	{codeinterp.ErrUnavailable, CodeUnavailable},
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

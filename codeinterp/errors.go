package codeinterp

import "errors"

// What a caller may want to branch on, with errors.Is. Text that says more
// follows each sentinel in the error's message.
var (
	// ErrLanguage: the language is not one of Languages.
	ErrLanguage = errors.New("language not supported")

	// ErrContext: the context never existed here, or was deleted.
	ErrContext = errors.New("no such context")

	// ErrInvalid: an argument or option is malformed or out of range.
	ErrInvalid = errors.New("invalid input")

	// ErrClosed: the interpreter was closed.
	ErrClosed = errors.New("interpreter closed")

	// ErrCapacity: a limit on runs, contexts or memory is reached; the same
	// call may work later.
	ErrCapacity = errors.New("no capacity")

	// ErrUnavailable: the runtime, the server or the way to it is missing or
	// failed.
	ErrUnavailable = errors.New("not available")

	// ErrIsolation: the isolation that was required cannot be had.
	ErrIsolation = errors.New("isolation not available")

	// ErrPaused: the interpreter is paused; see [Pauser].
	ErrPaused = errors.New("paused")

	// ErrRefused: a policy refused the call; see [Approve].
	ErrRefused = errors.New("refused")

	// ErrNoRun: there is no run to resume; see [ContextAttacher].
	ErrNoRun = errors.New("no run to resume")
)

// An Error says which operation failed, and where. It is put around an error
// once, at the provider's boundary. Tokens and paths of the host never appear
// in it.
type Error struct {
	Provider string // such as "jupyter"
	Op       string // such as "run" or "create context"
	Err      error
}

// Error returns "provider: operation: cause".
func (e *Error) Error() string { return e.Provider + ": " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

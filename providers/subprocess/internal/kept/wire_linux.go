package kept

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
)

// The operations. Each has a connection of its own.
const (
	Run       = "run"     // of a context
	Command   = "command" // a run of the shell, once
	Input     = "input"   // of a command, which takes it
	Signal    = "signal"  // to a command
	Resume    = "resume"  // of the last run
	Interrupt = "interrupt"
	Restart   = "restart"
	Pause     = "pause" // until EndPause, or the host has gone
	EndPause  = "end pause"
	Release   = "release" // the host goes, and has got all
	Close     = "close"

	hold = "hold" // all belongs to the host until the connection ends
	stop = "stop" // the run
	got  = "got"  // the host has got the end of the run
)

// A Request is what a host asks a keeper for.
type Request struct {
	Op       string
	Code     string                    // of a run
	Options  codeinterp.CommandOptions // of it
	HasStdin bool                      // gob does not tell an empty one from none
	Data     []byte                    // of an Input
	Last     bool                      // there is no more input
	Signal   codeinterp.Signal
}

// A Reply is an answer, or a part of the answer to a run.
type Reply struct {
	Err    *Error
	Hello  *Hello
	Begun  bool
	Missed int64 // with Begun: bytes of output before that are not kept
	Output *codeinterp.Output
	End    *codeinterp.Result // Err is the run's
}

// A Hello describes a context to the host that attaches it.
type Hello struct {
	Language string
	Cwd      string // of ContextOptions
	Env      map[string]string
	Dir      string // the working directory
	Inside   string // where programs start, as they see it
	Empty    bool   // no program has begun
}

// An Error is an error that crosses the socket.
type Error struct {
	Text string
	Kind int // index of kinds
}

var kinds = []error{codeinterp.ErrUnavailable, codeinterp.ErrInvalid, codeinterp.ErrCapacity, codeinterp.ErrContext, codeinterp.ErrClosed,
	codeinterp.ErrIsolation, codeinterp.ErrNoRun, codeinterp.ErrQuota, codeinterp.ErrTooLarge, codeinterp.ErrLanguage, codeinterp.ErrPaused}

// Answer returns a reply without an answer, or with an error.
func Answer(err error) *Reply {
	if err == nil {
		return &Reply{}
	}
	e := &Error{Text: err.Error()}
	for n, kind := range kinds {
		if errors.Is(err, kind) {
			e.Kind = n
		}
	}
	return &Reply{Err: e}
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the sentinel of package codeinterp.
func (e *Error) Unwrap() error { return kinds[min(max(e.Kind, 0), len(kinds)-1)] }

// failure returns the error of a reply.
func (r *Reply) failure() error {
	if r.Err == nil {
		return nil
	}
	return r.Err
}

// ask sends a request and returns the answer, and its error.
func ask(c *keeper.Conn, q *Request) (*Reply, error) {
	r := &Reply{}
	err := c.Encode(q)
	if err == nil {
		err = c.Decode(r)
	}
	if err == nil {
		err = r.failure()
	}
	return r, err
}

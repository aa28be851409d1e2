// Package kept is what a host and the keeper of a context say to each other, with the run
// of the context and its output, which the keeper keeps for hosts that come and go.
package kept

import (
	"encoding/gob"
	"errors"
	"net"

	"github.com/toolcell/toolcell/codeinterp"
)

// The operations of a Request. Each has a connection of its own.
const (
	Run       = "run"
	Resume    = "resume" // of the last run
	Interrupt = "interrupt"
	Restart   = "restart"
	Pause     = "pause" // until EndPause, or the host has gone
	EndPause  = "end pause"
	Release   = "release" // the host goes, and has got all
	Close     = "close"

	hold = "hold" // the context belongs to the host until the connection ends
	stop = "stop" // the run
	got  = "got"  // the host has got the end of the run
)

// A Request is what a host asks a keeper for.
type Request struct {
	Op string

	Code     string // of Run, with its options
	Options  codeinterp.RunOptions
	HasStdin bool // gob does not tell an empty one from none
}

// A Reply is an answer, or a part of the answer to Run and Resume.
type Reply struct {
	Err    *Error
	Hello  *Hello
	Begun  bool
	Output *codeinterp.Output
	End    *codeinterp.Result // without outputs; Err is the run's
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

// NewError returns the form of an error for the other process; nil for nil.
func NewError(err error) *Error {
	if err == nil {
		return nil
	}
	e := &Error{Text: err.Error()}
	for n, kind := range kinds {
		if errors.Is(err, kind) {
			e.Kind = n
		}
	}
	return e
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the sentinel of package codeinterp.
func (e *Error) Unwrap() error { return kinds[min(max(e.Kind, 0), len(kinds)-1)] }

// A conn is a connection of a host and a keeper.
type conn struct {
	*net.UnixConn
	*gob.Decoder
	*gob.Encoder
}

func newConn(c *net.UnixConn) *conn { return &conn{c, gob.NewDecoder(c), gob.NewEncoder(c)} }

// ask sends a request and returns the answer, and its error.
func (c *conn) ask(q *Request) (*Reply, error) {
	r := &Reply{}
	err := c.Encode(q)
	if err == nil {
		err = c.Decode(r)
	}
	if err == nil && r.Err != nil {
		err = r.Err
	}
	return r, err
}

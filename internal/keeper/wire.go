package keeper

import (
	"encoding/gob"
	"errors"
	"net"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Request is what a client asks a keeper for.
type Request struct {
	Op string // of a context

	// Of a run.
	Language string
	Code     string
	Options  codeinterp.RunOptions // without Input and Files
	HasStdin bool                  // gob does not tell an empty one from none
	Files    map[string]string     // paths of Options.Files by their names
	Live     bool                  // output is sent as it comes
	Lease    time.Duration         // how long the keeper stays then, if not 0
}

// RunOptions returns the options of a run.
func (q *Request) RunOptions() *codeinterp.RunOptions {
	if q.HasStdin && q.Options.Stdin == nil {
		q.Options.Stdin = []byte{}
	}
	return &q.Options
}

// A Reply is an answer, or a part of the answer to a run.
type Reply struct {
	Err      *Error
	Info     *codeinterp.Info
	Hello    *Hello
	Begun    bool
	Output   *codeinterp.Output
	End      *codeinterp.Result // without CallbackErr; Err is the run's
	Callback string             // the CallbackErr
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

// A Conn is a connection of a client and a keeper.
type Conn struct {
	*net.UnixConn
	*gob.Decoder
	*gob.Encoder
}

// NewConn returns the connection of a socket.
func NewConn(c *net.UnixConn) *Conn { return &Conn{c, gob.NewDecoder(c), gob.NewEncoder(c)} }

// Ask sends a request and returns the answer, and its error.
func (c *Conn) Ask(q *Request) (*Reply, error) {
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

// Package kept is what a host and a keeper say to each other, with the run and its output,
// which the keeper of a context or a command keeps for hosts that come and go.
package kept

import (
	"encoding/gob"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// The operations. The first three begin a run of the host, the fourth gets that of the host
// before; they return the beginning of its output.
const (
	Run     = "run"     // of the context
	Single  = "single"  // run of a keeper without a context
	Command = "command" // of the shell, once
	Resume  = "resume"

	Input     = "input"  // of the run, which takes it
	Signal    = "signal" // to a command
	Interrupt = "interrupt"
	Restart   = "restart"
	Pause     = "pause" // until EndPause, or the host has gone
	EndPause  = "end pause"
	Release   = "release" // the host goes, and has got all
	Close     = "close"

	// Hold is the first one, without an ID: all belongs to the host until the connection ends.
	Hold = "hold"

	next = "next" // output of the run
	stop = "stop" // the run
	got  = "got"  // the host has got the end of the run
)

// A Request is what a host asks a keeper for.
type Request struct {
	ID int
	Op string

	// Of a Hold.
	Order []byte // for a keeper that has just been started
	Lease time.Duration

	// Of a run.
	Code               string
	Options            codeinterp.CommandOptions
	HasStdin, HasInput bool   // gob does not tell an empty one from none
	Files              string // the directory in which they are

	From   int    // of a next: the number of the first output
	Data   []byte // of an Input
	Last   bool   // there is no more input
	Signal codeinterp.Signal
}

// A Reply is the answer to the request of its ID.
type Reply struct {
	ID    int
	Err   *Error
	Hello *Hello

	// Of a run.
	Begun   bool                    // just now
	Lost    []codeinterp.Truncation // what is not kept of the output before
	Outputs []codeinterp.Output
	Next    int                // the number of the next one
	End     *codeinterp.Result // Err is the run's
}

// A Hello describes a keeper to a host.
type Hello struct {
	PID      int
	Language string
	Context  codeinterp.ContextOptions
	Dir      string // the working directory
	Inside   string // where programs start, as they see it
	Empty    bool   // no program has begun
}

// A Conn is a connection of a host and a keeper.
type Conn struct {
	*net.UnixConn
	in *gob.Decoder

	mu  sync.Mutex
	out *gob.Encoder
}

// NewConn returns the connection of a socket.
func NewConn(c *net.UnixConn) *Conn {
	return &Conn{UnixConn: c, in: gob.NewDecoder(c), out: gob.NewEncoder(c)}
}

// Send sends a request. If that fails, the connection ends.
func (c *Conn) Send(q *Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	err := c.out.Encode(q)
	if err != nil {
		c.Close()
	}
	return err
}

// Read returns the next request.
func (c *Conn) Read() (*Request, error) {
	q := &Request{}
	return q, c.in.Decode(q)
}

// Answer answers a request, if there is still somebody who reads it.
func (c *Conn) Answer(q *Request, r *Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.ID = q.ID
	_ = c.out.Encode(r)
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

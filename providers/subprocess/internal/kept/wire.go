package kept

import (
	"encoding/gob"
	"errors"
	"net"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// The operations of a Request. Each has a connection of its own.
const (
	Run       = "run"
	Resume    = "resume" // of the last run
	Interrupt = "interrupt"
	Reset     = "reset"
	Late      = "late"    // the host has late output that it has not shown
	Release   = "release" // as Late; and the host has got the end of the last run
	Close     = "close"

	hold = "hold" // the context belongs to the host until the connection ends
	stop = "stop" // the run
	got  = "got"  // the host has got the end of the run
)

// A Request is what a host asks a keeper for.
type Request struct {
	Op string

	// Of Run.
	Code      string
	Stdin     []byte
	HasStdin  bool // gob does not tell an empty one from none
	Env       map[string]string
	Artifacts bool
	Network   *codeinterp.NetworkLimit
	Timeout   time.Duration

	After   int                 // of Resume
	Outputs []codeinterp.Output // of Late and Release
}

// A Reply is an answer, or a part of the answer to Run and Resume.
type Reply struct {
	Err    *Error
	Hello  *Hello
	Begun  bool
	Output *codeinterp.Output
	Lost   *codeinterp.Truncation
	End    *end
}

// A Hello describes a context to the host that attaches it.
type Hello struct {
	Language string
	Cwd      string // of ContextOptions
	Env      map[string]string
	Dir      string // the working directory
	Inside   string // where programs start, as they see it
	Empty    bool   // no program has begun
	Pending  bool   // the host before has not got the end of the last run
}

// An end is how a run ended.
type end struct {
	Outcome  driver.Outcome // without Unknown
	Unknown  *Error
	Err      *Error // why it never began
	TimedOut bool   // the keeper stopped it, since the host had gone
	Duration time.Duration
}

// outcome returns how a run ended. Of one that was resumed the keeper knows more than the
// driver.
func (e *end) outcome(resumed bool) (driver.Outcome, error) {
	o := e.Outcome
	if e.Unknown != nil {
		o.Unknown = e.Unknown
	}
	if e.Err != nil {
		return o, e.Err
	}
	if resumed {
		o.Former = &codeinterp.Result{Duration: e.Duration}
		if e.TimedOut {
			o.Former.Status, o.Former.ExitCode = codeinterp.StatusTimeout, codeinterp.ExitTimeout
		}
	}
	return o, nil
}

// An Error is an error that crosses the socket.
type Error struct {
	Text string
	Kind int // index of kinds
}

var kinds = []error{codeinterp.ErrUnavailable, codeinterp.ErrInvalid, codeinterp.ErrCapacity, codeinterp.ErrContext,
	codeinterp.ErrIsolation, codeinterp.ErrNoRun, codeinterp.ErrQuota, codeinterp.ErrTooLarge, codeinterp.ErrLanguage}

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

// reply reads a reply and returns its error too.
func (c *conn) reply() (*Reply, error) {
	r := &Reply{}
	err := c.Decode(r)
	if err == nil && r.Err != nil {
		err = r.Err
	}
	return r, err
}

func (c *conn) ask(q *Request) (*Reply, error) {
	if err := c.Encode(q); err != nil {
		return nil, err
	}
	return c.reply()
}

package subprocess

import (
	"encoding/gob"
	"errors"
	"net"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/internal/keeper"
)

// A keeperOrder is what a keeper is started with.
type keeperOrder struct {
	Dir   keeper.Dir
	Lease time.Duration
	Spool int

	// Of Options, with the mode that was found.
	Sandbox            Sandbox
	Shared             string // Options.Dir
	Network            bool
	ReadOnly, Writable []string
	Limits             Limits
	HostEnv            map[string]string
	Grace              time.Duration

	Language Language
	Kind     kind
	Path     string
	Boot     []byte
	Roots    []string

	// Of the context.
	Cwd string
	Env map[string]string
}

// A keptRequest is what a host asks a keeper for: one for each connection.
type keptRequest struct {
	Op string

	// Of run.
	Code      string
	Stdin     []byte
	HasStdin  bool // gob does not tell an empty one from none
	Env       map[string]string
	Artifacts bool
	Network   *codeinterp.NetworkLimit
	Timeout   time.Duration

	After   int                 // of follow
	Cursor  int                 // of complete, with Code
	Outputs []codeinterp.Output // of late
}

// A keptReply is an answer, or a part of the answer to run and follow.
type keptReply struct {
	Err        *keptError
	Hello      *keptHello
	Completion *codeinterp.Completion

	Begun  bool
	Output *codeinterp.Output
	Lost   *codeinterp.Truncation
	End    *keptEnd
}

// A keptHello is the answer to hold. The connection stays open while the context is
// attached.
type keptHello struct {
	Language string
	Cwd      string // of ContextOptions
	Env      map[string]string
	Dir      string // the working directory
	Inside   string // where programs start, as they see it
	Empty    bool   // no program has begun
	Pending  bool   // the host before has not got the end of the last run
}

// A keptEnd is how a run ended.
type keptEnd struct {
	Outcome  driver.Outcome // without Unknown
	Unknown  *keptError
	Err      *keptError // why it never began
	TimedOut bool       // the keeper stopped it, since the host had gone
	Duration time.Duration
}

// A keptError is an error that crosses the socket.
type keptError struct {
	Text string
	Kind int // index of keptKinds, or -1
}

var keptKinds = []error{codeinterp.ErrInvalid, codeinterp.ErrCapacity, codeinterp.ErrUnavailable, codeinterp.ErrContext,
	codeinterp.ErrIsolation, codeinterp.ErrNoRun, codeinterp.ErrQuota, codeinterp.ErrTooLarge, codeinterp.ErrLanguage}

func newKeptError(err error) *keptError {
	if err == nil {
		return nil
	}
	for n, kind := range keptKinds {
		if errors.Is(err, kind) {
			return &keptError{err.Error(), n}
		}
	}
	return &keptError{err.Error(), -1}
}

func (e *keptError) Error() string { return e.Text }

func (e *keptError) Unwrap() error {
	if e.Kind < 0 || e.Kind >= len(keptKinds) {
		return codeinterp.ErrUnavailable
	}
	return keptKinds[e.Kind]
}

// err returns the error as one that may be nil.
func (e *keptError) err() error {
	if e == nil {
		return nil
	}
	return e
}

// A keptConn is a connection of a host and a keeper.
type keptConn struct {
	*net.UnixConn
	in  *gob.Decoder
	out *gob.Encoder
}

func newKeptConn(c *net.UnixConn) *keptConn {
	return &keptConn{c, gob.NewDecoder(c), gob.NewEncoder(c)}
}

// read reads a reply and returns its error too.
func (c *keptConn) read() (*keptReply, error) {
	r := &keptReply{}
	if err := c.in.Decode(r); err != nil {
		return nil, err
	}
	return r, r.Err.err()
}

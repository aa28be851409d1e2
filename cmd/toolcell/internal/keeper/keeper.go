// Package keeper lets a command leave a process behind, a keeper, that serves
// later calls of the same command with what it holds ready. The caller keeps its
// own streams: a keeper that is to write, or to read, asks the caller to.
//
// A keeper serves one call at a time, of processes that may do what it may itself,
// and of those only calls with the same [Key]. A call is handed over in two steps,
// so that the caller knows whether it was: until [Place.Offer] returns an [Offer], nothing
// has begun, and after [Offer.Run] it is not to be begun again, unless that says so.
//
// # Security
//
// Sockets are in a directory that belongs to the user and is closed to others. Both
// sides compare the other's user, and what the kernel says of its rights: ids,
// capabilities, limits, control group, namespaces, root and security labels. A
// caller has to show that it can change a file in the directory, so that a process
// which Landlock or a mount keeps from writing there reaches no keeper. Whoever can
// do all of that could start the command itself.
package keeper

import (
	"encoding/json"
	"errors"
	"io"
	"time"
)

// An Order is what a caller asks a keeper to do.
type Order struct {
	Args    []string      // of the command
	Env     []string      // the caller's, as os.Environ returns it
	Program []byte        // what Args say to run, since the file may be the caller's alone
	File    string        // that the program is from
	Keep    time.Duration // how long to stay after this
	Seen    [3]bool       // which of the caller's streams are terminals

	stop bool // ask for nothing but the keeper's end
}

// A wire is an Order as JSON, whose strings cannot hold every name of a file.
type wire struct {
	Args, Env     [][]byte
	Program, File []byte
	Keep          time.Duration
	Seen          [3]bool
	Stop          bool
}

// MarshalJSON keeps every byte.
func (o *Order) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{raw(o.Args), raw(o.Env), o.Program, []byte(o.File), o.Keep, o.Seen, o.stop})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Order) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*o = Order{text(w.Args), text(w.Env), w.Program, string(w.File), w.Keep, w.Seen, w.Stop}
	return nil
}

func raw(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func text(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// A Key stands for all that decides what a call may reach: two calls of the same
// key can be served by the same keeper.
type Key string

// Streams are a call's, at the keeper's end or at the caller's.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ErrLost is why a call has no known end: its keeper went away after it had begun.
var ErrLost = errors.New("the keeper ended while it served this call")

// ErrRefused is why a keeper serves no call, which has not begun.
var ErrRefused = errors.New("the keeper refuses")

const (
	maxOrder     = 24 << 20 // bytes of an order
	maxPiece     = 32 << 10 // bytes of a stream in one frame
	maxHandshake = 500 * time.Millisecond
	maxSend      = 10 * time.Second // for one frame, of which the other side has at most three to take
	maxGreeting  = 8                // callers that are greeted at once
)

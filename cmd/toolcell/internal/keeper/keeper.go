// Package keeper lets a command leave a process behind, a keeper, that serves later
// calls of the same user. A keeper listens on a Unix socket in a directory that is
// closed to other users, serves one call at a time, and ends when it was not called for
// the duration of its lease.
//
// A call passes the caller's standard streams and directory as descriptors. It has two
// steps: before [Dir.Call] returns a Call nothing has begun, and after [Call.Run] it
// must not be repeated.
//
// # Security
//
// Both sides check the user id of the other. The directory has mode 0700. A process of
// the same user is trusted.
package keeper

import (
	"errors"
	"os"
	"time"
)

// An Order is what a caller asks a keeper to do.
type Order struct {
	Args  []string
	Env   []string
	Input []byte // the program, which only the caller may be able to read
	Umask int
	Lease time.Duration // how long the keeper stays after this call
	Verb  string        // empty to run Args, or Status or Stop
}

// Verbs of an Order that runs nothing.
const (
	Status = "status" // answer with a line about the keeper
	Stop   = "stop"   // end the keeper
)

// Files are standard input, output and error, and the directory of a caller.
type Files []*os.File

var (
	// ErrNone is the error of a call that no keeper listens for.
	ErrNone = errors.New("no keeper")
	// ErrRefused is the error of a call that a keeper did not begin.
	ErrRefused = errors.New("the keeper refuses the call")
	// ErrLost is the error of a call whose keeper ended during it.
	ErrLost = errors.New("the keeper ended during the call")
	// ErrExists is the error of a second keeper with the same key.
	ErrExists = errors.New("there is a keeper already")
)

const (
	maxOrder  = 8 << 20                // bytes
	handshake = 500 * time.Millisecond // for the steps before a call begins
	patience  = 10 * time.Second       // for a call to end after its caller has gone
)

// Bytes of the protocol. An order is four descriptors with its size, then its text. The
// keeper answers with ready, or with refused and a reason. The caller says begin, and
// the keeper ends with done and the exit code.
const (
	ready   = 'Y'
	refused = 'N'
	begin   = 'G'
	cancel  = 'C'
	done    = 'E'
)

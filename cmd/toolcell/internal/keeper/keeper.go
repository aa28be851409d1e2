// Package keeper lets a command leave a process behind, a keeper, that serves later
// calls of the same user. A keeper listens on a Unix socket in a directory that is
// closed to other users, serves one call after the other, and ends when it was not
// called for the duration of its lease.
//
// A call passes the caller's standard streams and directory as descriptors. It has two
// steps: before [Dir.Call] returns a Call nothing has begun, and after [Call.Run] it
// must not be repeated. Processes of the same user are trusted.
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
}

// Files are standard input, output and error, and the directory of a caller.
type Files [4]*os.File

var (
	// ErrNone is the error of a call that no keeper listens for.
	ErrNone = errors.New("no keeper")
	// ErrBusy is the error of a call that a keeper does not accept in time.
	ErrBusy = errors.New("the keeper is busy")
	// ErrLost is the error of a call whose keeper ended during it.
	ErrLost = errors.New("the keeper ended during the call")
)

const (
	maxOrder  = 8 << 20                // bytes
	handshake = 500 * time.Millisecond // for the steps before a call begins
	patience  = 10 * time.Second       // for a call to end after its caller has gone
)

// Package keeper lets a command leave a process behind, a keeper, that serves later
// calls of the same user with what it holds ready. A keeper listens on a Unix socket
// in a directory that is closed to other users, serves one call at a time, and ends
// when it was not called for the duration of its lease.
//
// A call passes the caller's standard streams and directory as descriptors, so that
// the keeper reads and writes them itself. It is handed over in two steps: before
// [Dir.Call] returns a Call nothing has begun, and after [Call.Run] it must not be
// repeated.
//
// # Security
//
// Both sides check the user id of the other (SO_PEERCRED). The directory has mode
// 0700. A process of the same user is trusted.
package keeper

import (
	"errors"
	"os"
	"strings"
	"time"
)

// An Order is what a caller asks a keeper to do.
type Order struct {
	Args  []string
	Env   []string
	Input []byte // what Args refer to and only the caller could read
	Umask int
	Lease time.Duration // how long the keeper stays after this call
	Verb  string        // empty to run Args, or Status or Stop

	Files []*os.File // standard input, output and error, and the directory
}

// Verbs of an Order that runs nothing.
const (
	Status = "status" // answer with a line about the keeper
	Stop   = "stop"   // end the keeper
)

// wire is an Order as JSON, which cannot hold every byte of a file name in a string.
type wire struct {
	Args, Env []byte // separated by NUL
	Input     []byte
	Umask     int
	Lease     time.Duration
	Verb      string
}

func (o *Order) wire() wire {
	return wire{[]byte(strings.Join(o.Args, "\x00")), []byte(strings.Join(o.Env, "\x00")), o.Input, o.Umask, o.Lease, o.Verb}
}

func (w *wire) order() *Order {
	return &Order{Args: split(w.Args), Env: split(w.Env), Input: w.Input, Umask: w.Umask, Lease: w.Lease, Verb: w.Verb}
}

func split(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

// Close closes the files.
func (o *Order) Close() {
	for _, f := range o.Files {
		_ = f.Close()
	}
}

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

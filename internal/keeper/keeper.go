// Package keeper leaves a process behind, a keeper, that other processes of the same user
// find by a key. A keeper listens on a Unix socket in a directory that is closed to other
// users, ends when its lease does, and ends for certain: see [EndWithin]. Processes of the
// same user are trusted.
package keeper

import (
	"encoding/gob"
	"errors"
	"net"
)

var (
	// ErrNone is the error of a call that no keeper listens for.
	ErrNone = errors.New("no keeper")

	// ErrTaken is the error of a keeper whose key another one has.
	ErrTaken = errors.New("there is such a keeper already")
)

// A Conn is a connection of a client and a keeper.
type Conn struct {
	*net.UnixConn
	*gob.Decoder
	*gob.Encoder
}

// NewConn returns the connection of a socket.
func NewConn(c *net.UnixConn) *Conn { return &Conn{c, gob.NewDecoder(c), gob.NewEncoder(c)} }

// Package keeper leaves a process behind, a keeper, that other processes of the same user
// find by a key. A keeper listens on a Unix socket in a directory that is closed to other
// users, ends when its lease does, and ends for certain: see [EndWithin]. Processes of the
// same user are trusted.
package keeper

import "errors"

var (
	// ErrNone is the error of a call that no keeper listens for.
	ErrNone = errors.New("no keeper")

	// ErrTaken is the error of a keeper whose key another one has.
	ErrTaken = errors.New("there is such a keeper already")
)

// Package hostiletest has programs that are made to harm whoever runs them, for
// the tests of engines, providers and servers.
package hostiletest

import "slices"

// A Program never ends, or wants everything there is. Revoked marks those that
// may sit in one built-in, or take to clean up, for so long that only taking
// their memory away ends them; the context then starts anew.
type Program struct {
	Name, Code string
	Revoked    bool
}

// JavaScript are all of them, without input and without need of each other.
func JavaScript() []Program { return slices.Concat(first, more) }

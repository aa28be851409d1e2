package main

import (
	"os"

	"github.com/mattn/go-isatty"
)

// isTerminal reports whether a stream of the command's is a terminal, also one of
// another process that this one serves.
func isTerminal(stream any) bool {
	switch s := stream.(type) {
	case *os.File:
		return isatty.IsTerminal(s.Fd())
	case interface{ IsTerminal() bool }:
		return s.IsTerminal()
	}
	return false
}

//go:build !linux

package main

import (
	"context"

	"github.com/toolcell/toolcell/codeinterp"
)

const canKeep = false

// A served is the run of another process's, which this one serves: there is none
// on this system.
type served struct{}

func (*served) program() (code, file string) { return "", "" }

func (*served) interpreter(*programFlags) codeinterp.CodeInterpreter { return nil }

func (a *app) offer(context.Context, *runFlags, []string, string, string) (int, bool) {
	return 0, false
}

// kept lists nothing.
func (a *app) kept() []string { return nil }

func (a *app) keep(context.Context, []string) int {
	return a.usageError("nothing is kept on this system: --keep needs Linux")
}

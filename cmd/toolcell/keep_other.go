//go:build !linux

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
)

const canKeep = false

type keeperCall struct{ program, file string }

func (*keeperCall) interpreter() codeinterp.CodeInterpreter { return nil }

func (a *app) offer(context.Context, *runFlags, string, string) (int, bool) { return 0, false }

func (a *app) keepCommand() *cobra.Command {
	return a.command("keep", "Manage processes that run --keep left behind; Linux only", nil,
		func(context.Context, *pflag.FlagSet, []string) int { return a.usageError("--keep needs Linux") })
}

//go:build !linux

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) keepCommand() *cobra.Command {
	return a.command("keep", "Manage processes that run --keep left behind; Linux only", nil,
		func(context.Context, *pflag.FlagSet, []string) int { return a.usageError("--keep needs Linux") })
}

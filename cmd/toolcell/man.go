package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand prints the man page, which has the help of all commands. Cobra's generator
// would bring four modules.
func (a *app) manCommand(root *cobra.Command) *cobra.Command {
	return a.command("man", "Print the man page", nil, func(context.Context, *pflag.FlagSet, []string) int {
		var b strings.Builder
		b.WriteString(manHead)
		manOf(&b, root)
		return a.print(b.String())
	})
}

// manOf writes the sections of a command and of its subcommands.
func manOf(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, ".SH %q\n.nf\n", strings.ToUpper(c.CommandPath()))
	for line := range strings.Lines(help(c)) {
		b.WriteString(`\&` + strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line))
	}
	b.WriteString(".fi\n")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			manOf(b, sub)
		}
	}
}

const manHead = `.TH TOOLCELL 1 "" "" Toolcell
.SH NAME
toolcell \- run code for LLM agents, in a sandbox
.SH EXIT STATUS
That of the program for
.BR "toolcell run" :
124 for a timeout, 130 for Ctrl\-C, 128 + signal for a process that died. Bad usage is 2, a failure of the provider 1.
.SH FILES
.TP
.I $XDG_CONFIG_HOME/toolcell/config.json
defaults of flags, by name
`

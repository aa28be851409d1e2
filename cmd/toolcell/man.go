package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand prints the man page. Cobra's generator would bring four modules.
func (a *app) manCommand(root *cobra.Command) *cobra.Command {
	return a.command("man", "Print the man page", nil, func(context.Context, *pflag.FlagSet, []string) int {
		var b strings.Builder
		b.WriteString(".TH TOOLCELL 1 \"\" \"\" Toolcell\n.SH NAME\ntoolcell \\- run code for LLM agents, in a sandbox\n.SH COMMANDS\n")
		manOf(&b, root)
		b.WriteString(manTail)
		return a.print(b.String())
	})
}

// manOf writes the sections of a command and of its subcommands.
func manOf(b *strings.Builder, c *cobra.Command) {
	if c.HasParent() {
		fmt.Fprintf(b, ".SS %q\n%s.\n", roff(c.UseLine()), roff(c.Short))
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			what, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff("--"+f.Name), roff(what), roff(usage))
		})
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			manOf(b, sub)
		}
	}
}

// roff escapes text for a man page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

const manTail = `.SH EXIT STATUS
The program\'s own for
.BR "toolcell run" :
124 for a timeout, 130 for Ctrl\-C, 128 + signal for a process that died. Bad usage is 2, a failure of the provider 1.
.SH ENVIRONMENT
.TP
.B TOOLCELL_PROVIDER
the provider if no flag or language decides
.TP
.B JUPYTER_URL, JUPYTER_TOKEN, JUPYTER_PASSWORD
the Jupyter server
.TP
.B TOOLCELL_MCP_TOKEN
the bearer token of
.B toolcell mcp \-\-http
.TP
.B TOOLCELL_ENVIRONMENTS
the directory that holds environments
.TP
.B TOOLCELL_KEEP
the duration of
.B toolcell run \-\-keep
.TP
.B VIRTUAL_ENV, CONDA_PREFIX
the Python environment that programs have by default
.SH FILES
.TP
.I $XDG_CONFIG_HOME/toolcell/config.json
defaults of flags, by name
`

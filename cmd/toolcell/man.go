package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
)

const manHead = `.TH TOOLCELL 1 "" "" "Toolcell"
.SH NAME
toolcell \- run code for LLM agents
.SH SYNOPSIS
.B toolcell
.I COMMAND
[\fIflags\fR] [\fIoperands\fR]
.SH DESCRIPTION
Runs code in an embedded engine, in isolated processes of this machine or in the
kernels of a Jupyter server, at the command line or as tools of an MCP server.
.SH COMMANDS
`

const manTail = `.SH EXIT STATUS
That of
.B toolcell run
is the program's own: 124 for a timeout, 130 for Ctrl\-C, 128 + signal for a process
that died. Bad usage is 2, a failure of the provider 1.
.SH ENVIRONMENT
.TP
.B JUPYTER_URL, JUPYTER_TOKEN, JUPYTER_PASSWORD
the Jupyter server, in place of \-\-url and \-\-token
.TP
.B TOOLCELL_MCP_TOKEN
the bearer token of
.BR "toolcell mcp \-\-http" ,
in place of \-\-http\-token
.TP
.B TOOLCELL_ENVIRONMENTS
the directory that Python environments are kept in
.TP
.B TOOLCELL_KEEP
the duration of
.BR "toolcell run \-\-keep" ,
where the flag is not given
.TP
.B VIRTUAL_ENV, CONDA_PREFIX
the Python environment that programs have by default
`

// man prints the man page, made from the commands' flags.
func (a *app) man(_ context.Context, args []string) int {
	if len(args) > 0 {
		return a.usageError("man takes no %q; try: toolcell man | man -l -", args[0])
	}
	var b strings.Builder
	b.WriteString(manHead)
	for _, c := range subcommands() {
		fmt.Fprintf(&b, ".SS %q\n%s.\n", strings.TrimSpace(roff("toolcell "+c.name+" "+c.synopsis)), roff(c.does))
		for _, f := range flagsOf(c) {
			what, says := unquoted(f)
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", roff(dashed(f)))
			if what != "" {
				fmt.Fprintf(&b, " \\fI%s\\fR", roff(what))
			}
			fmt.Fprintf(&b, "\n%s\n", roff(says))
		}
	}
	b.WriteString(manTail)
	return a.print(b.String())
}

// unquoted returns what a flag's value is called, and what the flag does, with
// its default.
func unquoted(f *flag.Flag) (what, says string) {
	what, says = flag.UnquoteUsage(f)
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "0s" {
		says += " (default " + d + ")"
	}
	return what, says
}

// roff writes text as a man page holds it.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

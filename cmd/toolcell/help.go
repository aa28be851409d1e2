package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags.
const (
	topicOf = "toolcell_topic" // the heading in the help
	ownerOf = "toolcell_owner" // the provider that the flag is for
)

// group registers flags under a heading of the help. An owner is the provider that
// they are for.
func group(fs *pflag.FlagSet, topic, owner string, register func()) {
	register()
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[topicOf] != nil {
			return
		}
		_ = fs.SetAnnotation(f.Name, topicOf, []string{topic})
		if owner != "" {
			_ = fs.SetAnnotation(f.Name, ownerOf, []string{owner})
		}
	})
}

// annotation returns the first value of a flag's annotation.
func annotation(f *pflag.Flag, name string) string {
	if list := f.Annotations[name]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// helpWidth is the width that the help is wrapped to.
const helpWidth = 100

// help returns the help of a command, its flags under their headings.
func help(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nusage: toolcell%s\n", c.Short, strings.TrimPrefix(c.UseLine(), "toolcell"))
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCommands\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
		b.WriteString("\nEach command has --help.\n")
	}
	groups := map[string]*pflag.FlagSet{}
	var topics []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		topic := cmp.Or(annotation(f, topicOf), "Flags")
		if groups[topic] == nil {
			groups[topic] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[topic].SortFlags = false
			topics = append(topics, topic)
		}
		groups[topic].AddFlag(f)
	})
	for _, topic := range topics {
		fmt.Fprintf(&b, "\n%s\n%s", topic, groups[topic].FlagUsagesWrapped(helpWidth))
	}
	return b.String()
}

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

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// root returns the command tree. Commands leave their exit code in a.code.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "toolcell", Short: "Run code for LLM agents, in a sandbox",
		SuggestionsMinimumDistance: 2, SilenceErrors: true, SilenceUsage: true, Version: version(),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q%s; see toolcell help", args[0], suggestion(c, args[0]))
			}
			a.code = exitUsage
			return c.Help()
		},
	}
	root.SetVersionTemplate("toolcell {{.Version}}\n")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { a.code = max(a.code, a.print(help(c))) })
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(a.runCommand(), a.replCommand(), a.shellCommand(), a.mcpCommand(), a.envCommand(), a.engineCommand(), a.keepCommand(),
		a.doctorCommand(), a.manCommand(root))
	root.AddCommand(a.command("version", "Print the version", nil,
		func(context.Context, *pflag.FlagSet, []string) int { return a.print("toolcell " + version() + "\n") }))
	return root
}

// suggestion names the commands that a mistyped word may mean.
func suggestion(c *cobra.Command, word string) string {
	if list := c.SuggestionsFor(word); len(list) > 0 {
		return " (did you mean " + strings.Join(list, " or ") + "?)"
	}
	return ""
}

// A runner runs a command with its operands, and returns the exit code.
type runner func(ctx context.Context, fs *pflag.FlagSet, operands []string) int

// command returns a command with flags and without operands.
func (a *app) command(use, short string, register func(*pflag.FlagSet, func(string) string), run runner) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, operands []string) error {
			if len(operands) > 0 {
				return fmt.Errorf("%s takes no %q; see %s --help", c.Name(), operands[0], c.CommandPath())
			}
			return nil
		},
		Run: func(c *cobra.Command, args []string) {
			a.code = a.withTemplate(c.Flags(), func() int { return run(c.Context(), c.Flags(), args) })
		}}
	c.Flags().SortFlags = false
	if register != nil {
		register(c.Flags(), a.getenv)
	}
	return c
}

// task returns a command with least to most operands, whose failure is an error.
func (a *app) task(use, short string, least, most int, register func(*pflag.FlagSet, func(string) string), do func(ctx context.Context, operands []string) error) *cobra.Command {
	c := a.command(use, short, register, nil)
	c.Args = func(c *cobra.Command, operands []string) error {
		if n := len(operands); n < least || n > most {
			return fmt.Errorf("use %s", c.UseLine())
		}
		return nil
	}
	c.Run = func(c *cobra.Command, operands []string) {
		if err := do(c.Context(), operands); err != nil && c.Context().Err() != nil {
			a.code = a.stopped()
		} else if err != nil {
			a.code = a.fail(err)
		}
	}
	return c
}

// print writes text to standard output.
func (a *app) print(text string) int {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return a.fail(err)
	}
	return 0
}

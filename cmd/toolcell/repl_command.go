package main

import (
	"context"
	"fmt"
	"strings"
)

// replCommands are the commands of the prompt.
var replCommands = []struct{ name, does string }{
	{"help", "list these"},
	{"restart", "delete all variables"},
	{"quit", "end, like exit() and Ctrl-D"},
}

// commandIn returns the command in a line and its operand, if it is one.
func commandIn(line string) (name, rest string, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), ":")
	name, rest, _ = strings.Cut(text, " ")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", "", false // in bash, : is a command
	}
	return name, strings.TrimSpace(rest), true
}

// command runs a command of the prompt, and reports whether the prompt ends.
func (r *repl) command(ctx context.Context, name, rest string) (quit bool) {
	switch {
	case rest != "":
		fmt.Fprintf(r.stderr, "toolcell: :%s takes nothing\n", name)
	case name == "quit":
		return true
	case name == "restart":
		if err := r.restart(ctx); err != nil {
			r.fail(err)
			return false
		}
		fmt.Fprintln(r.lines, "all variables are deleted")
	case name == "help":
		for _, c := range replCommands {
			fmt.Fprintf(r.stdout, ":%-9s %s\n", c.name, c.does)
		}
		fmt.Fprintln(r.stdout, "Ctrl-C interrupts a program. An empty line ends one of several lines, two end any.\nPrograms that name what reads, such as input(), read what is typed while they run.")
	default:
		fmt.Fprintf(r.stderr, "toolcell: no such command :%s; see :help\n", name)
	}
	return false
}

// restart empties the context's state.
func (r *repl) restart(ctx context.Context) (err error) {
	if r.manager != nil {
		err = r.manager.RestartContext(ctx, r.context)
	} else if err = r.interpreter.DeleteContext(ctx, r.context); err == nil {
		r.context, err = r.create(ctx)
	}
	return err
}

func inWord(c rune) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c > 127
}

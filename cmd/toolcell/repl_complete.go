package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// tabLimit is how long Tab waits for the runtime.
const tabLimit = 2 * time.Second

// complete returns where the word at pos begins, and its completions: commands, names that
// the runtime knows, or at the beginning of a line an indentation.
func (r *repl) complete(text string, pos int) (start int, matches []string) {
	before := text[:pos]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	start = pos
	for start > 0 {
		c, size := utf8.DecodeLastRuneInString(before[:start])
		if !inWord(c) {
			break
		}
		start -= size
	}
	word := before[start:]
	switch {
	case strings.TrimSpace(line) == "":
		return pos, []string{"    "}
	case strings.TrimSpace(before[:start]) == ":":
		for _, c := range replCommands {
			if strings.HasPrefix(c.name, word) {
				matches = append(matches, c.name)
			}
		}
		return start, matches
	}
	return r.ask(text, start, pos)
}

// ask asks the runtime for completions of the word from start to pos.
func (r *repl) ask(text string, start, pos int) (int, []string) {
	if r.completer == nil {
		return start, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tabLimit)
	defer cancel()
	c, err := r.completer.Complete(ctx, r.context, text, pos)
	if err != nil || c.Start > pos || c.End != pos {
		return start, nil
	}
	if word := text[c.Start:pos]; !slices.ContainsFunc(c.Matches, func(m string) bool { return m != word }) {
		return start, nil
	}
	return c.Start, c.Matches
}

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

package main

import (
	"context"
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

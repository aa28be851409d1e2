package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// tabLimit is how long Tab waits for the runtime.
const tabLimit = 2 * time.Second

// complete completes commands, and else what the runtime knows, where it can be
// asked, and the words that were typed before.
func (r *repl) complete(line string, pos int) (head string, completions []string, tail string) {
	before := []rune(line)
	pos = min(max(pos, 0), len(before))
	tail = string(before[pos:])
	before = before[:pos]
	start := len(before)
	for start > 0 && inWord(before[start-1]) {
		start--
	}
	head, word := string(before[:start]), string(before[start:])
	switch {
	case strings.TrimSpace(string(before)) == "" && inTabbed(r.language, r.typed):
		return string(before), []string{"\t"}, tail
	case strings.TrimSpace(string(before)) == "":
		return string(before), []string{"    "}, tail
	case strings.TrimSpace(head) == ":" && r.typed == "":
		for _, c := range replCommands {
			if strings.HasPrefix(c.name, word) {
				completions = append(completions, c.name)
			}
		}
		return head, completions, tail
	}
	if h, list, ok := r.ask(string(before), tail); ok && len(list) > 0 {
		return h, list, tail
	}
	// Behind a dot a word is a member, of what nobody knows.
	if word != "" && !strings.HasSuffix(head, ".") {
		for _, w := range r.words {
			if strings.HasPrefix(w, word) && w != word {
				completions = append(completions, w)
			}
		}
	}
	return head, completions, tail
}

// ask asks the runtime what could stand at the end of before. ok is false where
// there is no answer.
func (r *repl) ask(before, tail string) (head string, completions []string, ok bool) {
	if r.completer == nil {
		return "", nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), tabLimit)
	defer cancel()
	code := r.typed + before
	c, err := r.completer.Complete(ctx, r.context, code+tail, len(code))
	// What is before the cursor and was typed is all that can be replaced here.
	if err != nil || c.Start < len(r.typed) || c.End != len(code) {
		return "", nil, false
	}
	word := code[c.Start:]
	if !slices.ContainsFunc(c.Matches, func(m string) bool { return m != word }) {
		return "", nil, true
	}
	return code[len(r.typed):c.Start], c.Matches, true
}

// completerOf returns what completes code of a language, nil where nothing does.
func completerOf(ci codeinterp.CodeInterpreter, language string) codeinterp.Completer {
	c, ok := codeinterp.Completions(ci)
	if !ok || !slices.ContainsFunc(codeinterp.Describe(ci).Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == language && l.Completion }) {
		return nil
	}
	return c
}

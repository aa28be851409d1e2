package rewrite

import (
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
)

//go:embed words.txt
var wordsText string

// Words returns what names stand for, beside bytes and numbers: the instructions, and what
// this package makes of them. words.txt says how code is written.
var Words = sync.OnceValue(func() map[string][]string {
	words := map[string][]string{}
	for _, item := range Items(wordsText) {
		words[item[1]] = item[2:]
	}
	return words
})

// Items returns the words of each item of a text, which begins with a line that is not
// indented.
func Items(text string) (items [][]string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, ";;")
		words := strings.Fields(line)
		if last := len(items) - 1; strings.HasPrefix(line, "\t") {
			items[last] = append(items[last], words...)
		} else if len(words) > 0 {
			items = append(items, words)
		}
	}
	return items
}

// An Assembler makes code of words.
type Assembler struct {
	Words    map[string][]string
	Numbers  map[string]int // of functions, globals and parameters, and then of what is declared
	Locals   int            // of a function, with its parameters
	Declared []byte         // more of them
	code     code
}

// Assemble returns the code with that of words behind it. It panics where a word stands for
// nothing.
func (a *Assembler) Assemble(words []string) []byte {
	for _, w := range words {
		defined, ok := a.Words[w]
		switch name, kind, declares := strings.Cut(w, ":"); {
		case ok:
			a.Assemble(defined)
		case w[0] == '#':
			a.code = append(a.code, unhex(w[1:])...)
		case declares:
			a.Declared = append(a.Declared, 1, unhex(a.Words[kind][0][1:])[0])
			a.Numbers[name] = a.Locals
			a.Locals++
		default:
			a.number(w)
		}
	}
	return a.code
}

// number appends what a word stands for. One that is written without a sign looks the same
// with one, as far as they are used here.
func (a *Assembler) number(word string) {
	if n, ok := a.Numbers[word]; ok {
		a.code = a.code.u32(uint32(n))
		return
	}
	v, err := strconv.Atoi(word)
	if word[0] == '\'' {
		v, err = int(word[1]), nil
	}
	if err != nil {
		panic(err)
	}
	a.code = a.code.s32(int32(v))
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

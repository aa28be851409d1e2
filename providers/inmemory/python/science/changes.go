package science

import (
	_ "embed"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

//go:embed changes.txt
var changesText string

// changes are what is done to functions, by their names.
type changes struct {
	defined  map[string][]string // what names stand for
	replaced map[string][]replacement
	before   map[string]before
	called   []string
}

// A replacement is of bytes in a function, which occur so many times.
type replacement struct {
	times    int
	old, new []string
}

// A before is code that stands before a function's own.
type before struct{ parameters, code []string }

// readChanges reads what is written as changes.txt says.
func readChanges(text string) *changes {
	c := &changes{map[string][]string{}, map[string][]replacement{}, map[string]before{}, nil}
	var items []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, ";;")
		if strings.HasPrefix(line, "\t") {
			items[len(items)-1] += line
		} else if strings.TrimSpace(line) != "" {
			items = append(items, line)
		}
	}
	for _, item := range items {
		words := strings.Fields(item)
		kind, name, rest := words[0], words[1], words[2:]
		switch kind {
		case "define":
			c.defined[name] = rest
		case "replace":
			times, _ := strconv.Atoi(rest[0]) // another number is not that of the bytes
			arrow := slices.Index(rest, "=>")
			c.replaced[name] = append(c.replaced[name], replacement{times, rest[1:arrow], rest[arrow+1:]})
		case "before":
			colon := slices.Index(rest, ":")
			c.before[name] = before{rest[:colon], rest[colon+1:]}
		}
		for _, w := range rest {
			if f, ok := strings.CutPrefix(w, "@"); ok {
				c.called = append(c.called, f)
			}
		}
	}
	return c
}

// An assembler makes code of words.
type assembler struct {
	*changes
	numbers  map[string]int // of functions, parameters and what is declared
	locals   int
	declared []byte
	code     []byte
}

// assemble panics where a word stands for nothing.
func (a *assembler) assemble(words []string) []byte {
	for _, w := range words {
		switch name, kind, declares := strings.Cut(w, ":"); {
		case a.defined[w] != nil:
			a.assemble(a.defined[w])
		case w[0] == '#':
			a.code = append(a.code, unhex(w[1:])...)
		case declares:
			a.declared = append(a.declared, 1, unhex(a.defined[kind][0][1:])[0])
			a.numbers[name] = a.locals
			a.locals++
		default:
			a.number(w)
		}
	}
	return a.code
}

// number appends what a word stands for. One that is written without a sign looks the same
// with one, as far as they are used here.
func (a *assembler) number(word string) {
	if n, ok := a.numbers[word]; ok {
		a.code = appendNumber(a.code, n)
		return
	}
	v, err := strconv.Atoi(word)
	if word[0] == '\'' {
		v, err = int(word[1]), nil
	}
	if err != nil {
		panic(err)
	}
	for v < -0x40 || v >= 0x40 {
		a.code = append(a.code, byte(v)|0x80)
		v >>= 7
	}
	a.code = append(a.code, byte(v)&0x7f)
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

package science

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/wasm/rewrite"
)

//go:embed changes.txt
var changesText string

// changes are what is done to functions, by their names.
type changes struct {
	words    map[string][]string
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
	c := &changes{maps.Clone(rewrite.Words()), map[string][]replacement{}, map[string]before{}, nil}
	for _, item := range rewrite.Items(text) {
		name, rest := item[1], item[2:]
		switch item[0] {
		case "define":
			c.words[name] = rest
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

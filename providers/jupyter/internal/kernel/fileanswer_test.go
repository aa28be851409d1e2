package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// TestFileAnswer: what a program that plays files.py sends is bounded.
func TestFileAnswer(t *testing.T) {
	list := func(n int) string {
		return `{"whole":true,"entries":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}`
	}
	for _, tt := range []struct {
		name, json string
		entries    int // -1: refused
	}{
		{"none", `{}`, 0},
		{"null", `{"entries":null}`, 0},
		{"empty", list(0), 0},
		{"an entry", `{"entries":[{"name":"YQ==","size":3,"mode":33188}]}`, 1},
		{"most", list(MaxFileEntries), MaxFileEntries},
		{"one more", list(MaxFileEntries + 1), -1},
		{"far more", list(1 << 20), -1},
		{"given again", strings.TrimSuffix(list(3), "}") + `,"entries":[{}]}`, 1},
		{"no list", `{"entries":{"name":""}}`, -1},
		{"no entries", `{"entries":[1]}`, -1},
		{"less than nothing", `{"size":-1}`, -1},
		{"a file of less than nothing", `{"entries":[{"size":-1}]}`, -1},
		{"less than no more", `{"more":-1}`, -1},
		{"less than no rest", `{"rest":-1}`, -1},
		{"before the begin", `{"at":-1}`, -1},
		{"too long a hash", fmt.Sprintf(`{"sha":"%065d"}`, 0), -1},
		{"too deep", `{"entries":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, -1},
		{"no object", `[]`, -1},
		{"cut off", `{"entries":[{`, -1},
	} {
		a, err := decodeFileAnswer([]byte(tt.json))
		if got := -1; err != nil && tt.entries != got || err == nil && len(a.Entries) != tt.entries {
			t.Errorf("%s: %+v, %v; want %d entries", tt.name, a, err, tt.entries)
		}
	}
}

package mcptools

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestLines: what is no message is left out, up to a bound, and what is a broken one
// ends the session, as somebody may wait for it.
func TestLines(t *testing.T) {
	const good, more = `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"x"}`
	answer := func(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id) + "\n" }
	for _, tt := range []struct {
		name, text   string
		want, strays int
		err          error // nil: any other than the end
	}{
		{"messages", good + "\n" + more + "\r\n\n" + good, 3, 0, io.EOF},
		{"a list", "[" + good + "," + more + "]\n", 2, 0, io.EOF},
		{"words", "npm WARN x\n" + good + "\n{{{\n\x00\xff\n[1] 55\n" + good + "\n", 2, 4, io.EOF},
		{"a log", `{"level":"info","id":1}` + "\n[]\n5\n\"x\"\nnull\n" + good, 1, 4, io.EOF},
		{"ids of nobody", answer("1e400") + answer("1.5") + answer("{}") + answer("[]") + answer("true") + answer("null") + answer("1180591620717411303424") +
			`{"jsonrpc":"2.0","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + answer(`"1"`) + answer("-1") + answer("3.0"), 4, 8, io.EOF},
		{"a broken message", answer("1") + `{"jsonrpc":"2.0","id":2,"result":{"a":NaN}}` + "\n" + good, 1, 0, nil},
		{"two on a line", good + good, 0, 0, nil},
		{"another version", `{"jsonrpc":"1.0","id":2,"result":{}}`, 0, 0, nil},
		{"many now and then", strings.Repeat(strings.Repeat("x\n", maxStrays)+good+"\n", 3), 3, 3 * maxStrays, io.EOF},
		{"many", good + "\n" + strings.Repeat("x\n", maxStrays+1) + good, 1, maxStrays + 1, errStrays},
		{"many empty ones", strings.Repeat("\n", maxStrayBytes+1) + good, 0, 0, errStrays},
		{"a long one", strings.Repeat("x", 2*maxStrayBytes), 0, 1, errStrays},
		{"a long message", answer(`"` + strings.Repeat("x", 2*maxStrayBytes) + `"`), 1, 0, io.EOF},
		{"a list of too many", "[1" + strings.Repeat(",1", maxMembers) + "]\n" + good, 0, 0, errMembers},
		{"one that is too long", "{" + strings.Repeat(" ", maxMessage+100<<10), 0, 0, errHuge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := lineReader{in: bufio.NewReaderSize(strings.NewReader(tt.text), 64<<10), strays: &strays{}}
			var list, all []jsonrpc.Message
			var err error
			for list, err = r.next(); err == nil; list, err = r.next() {
				all = append(all, list...)
			}
			if tt.err != nil && !errors.Is(err, tt.err) || tt.err == nil && errors.Is(err, io.EOF) {
				t.Error(err)
			}
			if len(all) != tt.want || r.strays.count != tt.strays {
				t.Errorf("%d messages, %d other lines: %v", len(all), r.strays.count, r.strays.problem())
			}
		})
	}
}

// FuzzLines: no output of a server does more than end its session.
func FuzzLines(f *testing.F) {
	f.Add([]byte("npm\n{\"jsonrpc\":\"2.0\",\"id\":1e400}\n[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := lineReader{in: bufio.NewReaderSize(strings.NewReader(string(text)), 64<<10), strays: &strays{}}
		for n := 0; ; n++ {
			list, err := r.next()
			if err != nil {
				return
			}
			for _, m := range list {
				if _, err := jsonrpc.EncodeMessage(m); err != nil {
					t.Error(err)
				}
			}
			if n > len(text) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}

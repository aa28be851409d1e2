package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// TestHostileText cleans and shows text that took minutes or hours where the work grew
// with the square of it.
func TestHostileText(t *testing.T) {
	const size = 1 << 19
	for _, unit := range []string{"\x1b[0m", "\x1b[0mx\r", "\x1b]", "\r", "a\r", "1%\r", "\x1b[K\r", "\xff", "\u202e", "--- ", "--- \n", " ", "--- stdout ---\r"} {
		ci := &fake{script: fixed(ok(out(strings.Repeat(unit, size/len(unit)) + "end\n")))}
		list, err := tools.ForCode("w", ci, &tools.Options{MaxText: size})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tools.NewSet(list, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := set.Dispatch(t.Context(), runCode, args("x"), nil); r.Failure != nil || len(r.Text) == 0 || len(r.JSON()) == 0 {
			t.Errorf("%q: %.100q", unit, r.Text)
		}
	}
}

// TestHostileArgs: arguments that a program makes up take no more time or memory than
// their size has it.
func TestHostileArgs(t *testing.T) {
	type row struct {
		A string `json:"a,omitempty"`
	}
	f := tools.Func("f", "", func(_ context.Context, in map[string][]row) (int, error) { return len(in), nil })
	for name, c := range map[string]struct{ args, err string }{
		"a long key":           {`{"` + strings.Repeat("k", 4<<20) + `":[` + strings.Repeat(`{},`, 200_000) + `{}]}`, ""},
		"a long key of a key":  {`{"` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat(`{},`, 1000) + `{"x":1}]}`, "kkk..."},
		"half a million rows":  {`{"a":[` + strings.Repeat(`{},`, 500_000) + `{}]}`, "more than 500000 members"},
		"half a million names": {`{` + strings.Repeat(`"a":[],`, 300_000) + `"a":[]}`, "more than 500000 members"},
	} {
		_, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(c.args)})
		if text := fmt.Sprint(err); (err == nil) != (c.err == "") || !strings.Contains(text, c.err) || len(text) > 2<<10 {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

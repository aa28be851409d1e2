package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/tools"
)

// TestHostileText cleans and shows text that took minutes or hours where the work grew
// with the square of it.
func TestHostileText(t *testing.T) {
	size := race.Short(4<<20, 1<<19)
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
		if told := fmt.Sprint(err); (err == nil) != (c.err == "") || !strings.Contains(told, c.err) || len(told) > 2<<10 {
			t.Errorf("%s: %.300s", name, told)
		}
	}
}

// TestKeptFiles: what files hold counts for what is kept of Results.
func TestKeptFiles(t *testing.T) {
	const each, most = 1 << 20, 4 << 20
	result := func() codeinterp.Result {
		return codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{out(strings.Repeat("line\n", 1000))},
			Artifacts: []codeinterp.Artifact{{Path: "a", Size: each, SHA256: "x", Data: make([]byte, each)}}}
	}
	ci := &fake{script: func(context.Context, string) (codeinterp.Result, error) { return result(), nil }}
	store := tools.NewOutputStore(&tools.OutputStoreOptions{MaxBytes: most})
	list, err := tools.ForCode("w", ci, &tools.Options{MaxText: 1024, Outputs: store})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(list, &tools.SetOptions{RememberBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	var stored, remembered int
	ids := map[int]string{}
	for i := range 20 {
		ids[i] = set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: fmt.Sprint(i)}).OutputID
	}
	for i := range 20 {
		if res, ok := store.Result(ids[i]); ok {
			stored += len(res.Artifacts[0].Data)
		}
		r := set.Dispatch(t.Context(), runCode, args("x"), &tools.DispatchOptions{ID: fmt.Sprint(i)})
		if len(r.Result.Artifacts) != 1 || r.Result.Artifacts[0].Size != each {
			t.Errorf("call %d: %+v", i, r.Result)
		}
		if n := len(r.Result.Artifacts[0].Data); n > 0 {
			remembered += n
		} else if len(r.Result.Truncated) == 0 {
			t.Errorf("call %d does not tell what it lacks", i)
		}
	}
	if stored == 0 || stored > most || remembered == 0 || remembered > most {
		t.Errorf("%d bytes of files are stored, and %d remembered; %d are the limit", stored, remembered, most)
	}
	if ci.ran() != 20 {
		t.Errorf("ran %d times", ci.ran())
	}
}

package codeinterp_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/goldentest"
)

func rep(mime, data string) codeinterp.Representation {
	return codeinterp.Representation{MIME: mime, Data: []byte(data)}
}

var goldenResults = map[string]codeinterp.Result{
	"empty": {Status: codeinterp.StatusOK},
	"streams": {Status: codeinterp.StatusOK, ExecutionCount: 3, Duration: 12 * time.Millisecond, Outputs: []codeinterp.Output{
		{Kind: codeinterp.Stdout, Data: []byte("a<b> & \"c\"\n")},
		{Kind: codeinterp.Stderr, Data: []byte{0xff, 0xfe}},
		{Kind: codeinterp.Stdout, Data: []byte("tail"), Dropped: 7, Late: true},
	}},
	"values": {Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
		{Kind: codeinterp.Value, Value: json.RawMessage(`"hi"`), Bundle: []codeinterp.Representation{rep("text/plain", "'hi'")}},
		{Kind: codeinterp.Value, Value: json.RawMessage(`""`), Bundle: []codeinterp.Representation{rep("text/plain", "")}},
		{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{rep("text/html", "<b>1</b>"), rep("text/plain", "{1, 2}")}},
	}},
	"displays": {Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
		{Kind: codeinterp.Display, DisplayID: "d1", Metadata: json.RawMessage(`{"image/png":{"width":2}}`),
			Bundle: []codeinterp.Representation{rep("image/png", "\x89PNG"), rep("image/svg+xml", "<svg/>"), rep("application/json", `{"a":1}`), rep("text/plain", "<Figure>")}},
	}},
	"error": {Status: codeinterp.StatusError, ExitCode: 1, Error: &codeinterp.ProgramError{
		Name: "ModuleNotFoundError", Message: "No module named 'numpy'", Line: 1, MissingModule: "numpy",
		Traceback: []string{"Traceback (most recent call last):", "ModuleNotFoundError: No module named 'numpy'"}}},
	"lost": {Status: codeinterp.StatusLost, ExitCode: 137, Cause: codeinterp.CauseMemory, StateLost: true,
		Truncated: []codeinterp.Truncation{
			{Stream: "stdout", Bytes: 3000001, Kept: 32768, Reason: codeinterp.TruncatedByLimit},
			{Stream: "display", Bytes: -1, Reason: codeinterp.TruncatedByRate}},
		Artifacts: []codeinterp.Artifact{{Path: "plot.csv", MIME: "text/csv", Size: 120, SHA256: "ab"}}},
	"not_run": codeinterp.NotRun(),
}

func TestResultJSONGolden(t *testing.T) {
	for name, res := range goldenResults {
		t.Run(name, func(t *testing.T) {
			raw, err := res.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, raw, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			goldentest.Check(t, "result_"+name+".json", got.Bytes())
		})
	}
}

func TestResultJSONRoundTrip(t *testing.T) {
	for name, res := range goldenResults {
		raw, err := json.Marshal(res)
		if err != nil {
			t.Fatal(name, err)
		}
		var back codeinterp.Result
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(name, err)
		}
		if len(back.Outputs) == 0 {
			back.Outputs = nil
		}
		if !reflect.DeepEqual(back, res) {
			t.Errorf("%s: got %+v, want %+v", name, back, res)
		}
	}
}

func TestOutputJSONRefuses(t *testing.T) {
	for _, in := range []string{`{"type":"unknown"}`, `{}`, `{"type":1}`, `{"type":"stdout","data":"%"}`, `[]`,
		`{"type":"display","text":"x"}`, `{"type":"display","alternatives":[{"text":"x"}]}`} {
		var o codeinterp.Output
		if err := json.Unmarshal([]byte(in), &o); err == nil {
			t.Errorf("%s was taken for %+v", in, o)
		}
	}
	if _, err := (codeinterp.Output{}).MarshalJSON(); err == nil {
		t.Error("an output without a kind was written")
	}
}

// FuzzOutputJSON checks that every output keeps all its bytes on the way out
// and back.
func FuzzOutputJSON(f *testing.F) {
	f.Add(uint8(1), []byte("text"), "", []byte(nil), "", []byte(nil), false)
	f.Add(uint8(3), []byte(nil), "image/png", []byte{0x89, 0}, "text/plain", []byte("x"), true)
	f.Add(uint8(4), []byte(nil), "application/json", []byte(`{"a": "<"}`), "text/plain", []byte{0xff}, false)
	f.Add(uint8(3), []byte(nil), "application/json", []byte(`{"a":"<&>"}`), "", []byte(nil), false)
	f.Fuzz(func(t *testing.T, kind uint8, data []byte, mime1 string, data1 []byte, mime2 string, data2 []byte, late bool) {
		in := codeinterp.Output{Kind: codeinterp.Kind(kind%5 + 1), Late: late}
		switch in.Kind {
		case codeinterp.Stdout, codeinterp.Stderr:
			in.Data = data
		case codeinterp.Display, codeinterp.Value:
			for _, r := range []codeinterp.Representation{{MIME: mime1, Data: data1}, {MIME: mime2, Data: data2}} {
				if r.MIME != "" && utf8.ValidString(r.MIME) {
					in.Bundle = append(in.Bundle, r)
				}
			}
			codeinterp.SortBundle(in.Bundle)
		}
		raw, err := in.MarshalJSON()
		if err != nil {
			t.Fatalf("marshal %+v: %v", in, err)
		}
		var out codeinterp.Output
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("unmarshal %s: %v", raw, err)
		}
		if out.Kind != in.Kind || out.Late != in.Late || !bytes.Equal(out.Data, in.Data) || len(out.Bundle) != len(in.Bundle) {
			t.Fatalf("%+v became %+v by %s", in, out, raw)
		}
		for _, r := range in.Bundle {
			if !hasRep(out, r) {
				t.Fatalf("%s lacks %q %q", raw, r.MIME, r.Data)
			}
		}
	})
}

func hasRep(o codeinterp.Output, want codeinterp.Representation) bool {
	for _, r := range o.Bundle {
		if r.MIME == want.MIME && bytes.Equal(r.Data, want.Data) {
			return true
		}
	}
	return false
}

// TestFaultyUTF8 has bytes that are not UTF-8 wherever a program can put them:
// the document is UTF-8 all the same, and reads back.
func TestFaultyUTF8(t *testing.T) {
	res := codeinterp.Result{
		Status: codeinterp.StatusOK,
		Outputs: []codeinterp.Output{
			{Kind: codeinterp.Stdout, Data: []byte("a\xff")},
			{Kind: codeinterp.Value, Value: []byte("{\"a\xff\xfe\":\"\xc3\"}"), Bundle: []codeinterp.Representation{{MIME: "text/plain\xff", Data: []byte("\xff")}}},
			{Kind: codeinterp.Display, DisplayID: "\xff", Metadata: []byte("[\"\xff\"]"), Bundle: []codeinterp.Representation{{MIME: "application/json", Data: []byte("[\"\xff\"]")}}},
		},
		Error: &codeinterp.ProgramError{Name: "\xff", Message: "\xff", Traceback: []string{"\xff"}},
	}
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(raw) {
		t.Errorf("%q is not UTF-8", raw)
	}
	var back codeinterp.Result
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if got := string(back.Outputs[1].Value); got != "{\"a\uFFFD\uFFFD\":\"\uFFFD\"}" {
		t.Errorf("value %q", got)
	}
}

// encoding/json refuses documents of more than 10,000 levels; what a program nests
// must not take the rest of its Result along.
func TestDeepJSON(t *testing.T) {
	for _, depth := range []int{8999, 9001, 9998, 10_000, 20_000} {
		deep := strings.Repeat(`[`, depth) + `"]\""` + strings.Repeat(`]`, depth)
		res := codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
			{Kind: codeinterp.Stdout, Data: []byte("kept")},
			{Kind: codeinterp.Value, Value: json.RawMessage(deep), Metadata: json.RawMessage(deep)},
			{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{rep("application/json", deep)}},
		}}
		b, err := json.Marshal(map[string]any{"result": res})
		if err != nil {
			t.Errorf("depth %d: %v", depth, err)
			continue
		}
		var back struct{ Result codeinterp.Result }
		if err := json.Unmarshal(b, &back); err != nil || back.Result.Stdout() != "kept" {
			t.Errorf("depth %d: got %q back, %v", depth, back.Result.Stdout(), err)
		} else if got := back.Result.Outputs[2].Bundle[0].Data; string(got) != deep {
			t.Errorf("depth %d: the display came back as %d bytes of %d", depth, len(got), len(deep))
		}
	}
}

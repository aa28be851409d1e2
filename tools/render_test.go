package tools_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/format"
)

// A renderer is what all APIs but MCP have in common.
type renderer interface {
	Tools([]tools.Tool) (json.RawMessage, error)
	Results(...*tools.Answer) json.RawMessage
}

func renderers(strict bool) map[string]renderer {
	return map[string]renderer{
		"openai_chat":      format.OpenAIChat{Strict: strict},
		"openai_responses": format.OpenAIResponses{Strict: strict},
		"anthropic":        format.Anthropic{},
		"gemini":           format.Gemini{},
	}
}

func TestDefinitions(t *testing.T) {
	list, err := tools.ForCode("w", newManaged(), &tools.Options{ManageContexts: true, ReadOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, strict := range []bool{false, true} {
		suffix := ".json"
		if strict {
			suffix = "_strict.json"
		}
		for name, r := range renderers(strict) {
			if strict && !strings.HasPrefix(name, "openai") {
				continue
			}
			got, err := r.Tools(list)
			if err != nil {
				t.Fatal(name, err)
			}
			goldenJSON(t, "tools/"+name+suffix, got)
		}
	}
	got, err := format.MCP{}.Tools(list)
	if err != nil {
		t.Fatal(err)
	}
	goldenJSON(t, "tools/mcp.json", got)
	for _, tool := range list {
		goldentest.Check(t, "descriptions/"+strings.TrimPrefix(tool.Name, "workspace__w__")+".txt", []byte(tool.Description+"\n"))
	}
}

func TestNoDefinitions(t *testing.T) {
	for name, r := range renderers(false) {
		got, err := r.Tools(nil)
		if err != nil || string(got) != "[]" {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

// TestLongNames: what one API takes another refuses.
func TestLongNames(t *testing.T) {
	list := []tools.Tool{{Name: strings.Repeat("x", 80)}}
	for name, r := range renderers(false) {
		if _, err := r.Tools(list); (err != nil) != (name == "openai_chat") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	img.Set(0, 0, color.Black)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gifOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black}), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func display(mime string, data []byte) codeinterp.Output {
	return codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: mime, Data: data}}}
}

// TestResults renders the answers of a turn with three calls: one with images,
// one whose program failed, one that failed itself.
func TestResults(t *testing.T) {
	ci := &fake{}
	set := newSet(t, ci, nil)
	const name = "workspace__w__run_code"
	call := func(id, args string, res codeinterp.Result) *tools.Answer {
		ci.script = fixed(res)
		return set.Dispatch(t.Context(), name, []byte(args), &tools.DispatchOptions{ID: id})
	}
	good := `{"language":"python","code":"x"}`
	replies := []*tools.Answer{
		call("call_1", good, ok(out("see:\n"), display("image/png", pngOf(t, 3, 2)), display("image/gif", gifOf(t, 2, 2)))),
		call("call_2", good, codeinterp.Result{
			Status: codeinterp.StatusError, ExitCode: 1, Outputs: []codeinterp.Output{errOut("careful\n")},
			Error: &codeinterp.ProgramError{Name: "ValueError", Message: "no <such> & such", Line: 3},
		}),
		call("call_3", `{"code":1}`, codeinterp.Result{}),
	}
	for api, r := range renderers(false) {
		goldenJSON(t, "results/"+api+".json", r.Results(replies...))
	}
	for _, r := range replies {
		goldenJSON(t, "results/mcp_"+r.CallID+".json", format.MCP{}.Result(r))
	}
	for api, r := range renderers(false) {
		if got := r.Results(); !json.Valid(got) || bytes.Contains(got, []byte("null")) {
			t.Errorf("%s: no replies: %s", api, got)
		}
	}
}

// TestBrokenValue: a value that is no JSON does not break the answer.
func TestBrokenValue(t *testing.T) {
	res := ok(codeinterp.Output{Kind: codeinterp.Value, Value: json.RawMessage("NaN"), Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("nan")}}})
	if r := run(t, res, nil); !json.Valid(r.JSON()) || !strings.Contains(string(r.JSON()), "nan") {
		t.Errorf("%s", r.JSON())
	}
}

// goldenJSON compares JSON, indented, with testdata/name.
func goldenJSON(t *testing.T, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	b.WriteByte('\n')
	goldentest.Check(t, name, b.Bytes())
}

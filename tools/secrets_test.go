package tools_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

const theSecret = "s3cr3t/pass+word=\"x\""

func secrets(t testing.TB, values ...string) *secret.Scrubber {
	t.Helper()
	s, err := secret.New(values...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSecretsNeverLeave: whatever way a secret takes out of a run, and however
// it is cut into chunks, it is found.
func TestSecretsNeverLeave(t *testing.T) {
	for cut := range len(theSecret) {
		a, b := theSecret[:cut], theSecret[cut:]
		res := codeinterp.Result{
			Status: codeinterp.StatusError, ExitCode: 1,
			Outputs: []codeinterp.Output{
				out("token " + a), errOut("between " + theSecret + "\n"), out(b + " end\n"),
				{Kind: codeinterp.Display, DisplayID: theSecret, Metadata: json.RawMessage(`{"k":` + quote(theSecret) + `}`), Bundle: []codeinterp.Representation{
					{MIME: "text/html", Data: []byte("<b>" + theSecret)}, {MIME: "application/json", Data: []byte(quote(theSecret))},
				}},
				{Kind: codeinterp.Value, Value: json.RawMessage(quote(theSecret)), Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte(theSecret)}}},
			},
			Error:     &codeinterp.ProgramError{Name: "E", Message: theSecret, MissingModule: theSecret, Traceback: []string{theSecret, "x"}, RawTraceback: []string{theSecret}},
			Artifacts: []codeinterp.Artifact{{Path: theSecret}},
		}
		var events bytes.Buffer
		live := ""
		ci := &fake{script: fixed(res)}
		set := watched{newSet(t, ci, &tools.Options{Secrets: secrets(t, theSecret)}), func(e observe.Event) error {
			fmt.Fprintf(&events, "%v %+v\n", e, e.Result)
			if e.Output.Kind == codeinterp.Stdout {
				live += string(e.Output.Data)
			}
			return errors.New(theSecret)
		}}
		r := set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"python","code":"x"}`), nil)
		if live != "token [secret] end\n" || r.Result.Stdout() != live {
			t.Fatalf("cut at %d: events %q, result %q", cut, live, r.Result.Stdout())
		}
		whole, err := json.Marshal(r.Result)
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range map[string]string{
			"text": r.Text, "json": string(r.JSON()), "result": string(whole), "events": events.String(),
			"callback error": r.Result.CallbackErr.Error(),
		} {
			if strings.Contains(text, theSecret) || strings.Contains(text, "pass+word") {
				t.Errorf("cut at %d: %s: %s", cut, where, text)
			}
		}
		if string(ci.opts[0].Env["x"]) != "" || res.Outputs[1].Text() != "between "+theSecret+"\n" {
			t.Error("the provider's memory is changed")
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestSecretsInErrors: errors lose the secret and keep what they are.
func TestSecretsInErrors(t *testing.T) {
	fail := fmt.Errorf("%w: at %s", codeinterp.ErrUnavailable, theSecret)
	ci := newManaged()
	ci.script = func(ctx ctxType, _ string) (codeinterp.Result, error) { return codeinterp.NotRun(), fail }
	opts := &tools.Options{Secrets: secrets(t, theSecret)}
	set := newSet(t, ci, opts)
	r := set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"python","code":"x"}`), nil)
	if r.Failure == nil || r.Failure.Code != tools.CodeUnavailable || !errors.Is(r.Err, codeinterp.ErrUnavailable) ||
		strings.Contains(r.Text+r.Err.Error(), "s3cr3t") {
		t.Errorf("%s, %v", r.Text, r.Err)
	}
	r = set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"`+"s3cr3t"+`"}`), nil)
	if r.Failure == nil {
		t.Error(r.Text)
	}
}

// TestSecretsAtGaps: what is left of a secret where a provider dropped output
// is masked as well.
func TestSecretsAtGaps(t *testing.T) {
	res := ok(out("start "+theSecret[:9]), codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(theSecret[9:] + " end"), Dropped: 5})
	r := run(t, res, &tools.Options{Secrets: secrets(t, theSecret)})
	if got := r.Result.Stdout(); got != "start [secret][secret] end" {
		t.Errorf("got %q", got)
	}
}

// TestSecretsThatCleaningPutsTogether: a color within a secret, as grep puts it
// there, is gone from what the model sees.
func TestSecretsThatCleaningPutsTogether(t *testing.T) {
	split := theSecret[:4] + "\x1b[31m" + theSecret[4:7] + "\x00" + theSecret[7:]
	res := ok(out("key="+split+" end\n"), errOut(split), display("text/plain", []byte(split)), out(strings.Repeat("x\n", 2000)))
	res.Error = &codeinterp.ProgramError{Name: "E", Message: split, Traceback: []string{"at " + split}}
	r := run(t, res, &tools.Options{Secrets: secrets(t, theSecret), ReadOutput: true, MaxText: 1024})
	if strings.Contains(r.Text, theSecret) || strings.Contains(string(r.JSON()), theSecret) || !strings.Contains(r.Text, "key=[secret] end") {
		t.Errorf("%s\n%s", r.Text, r.JSON())
	}
	store := tools.NewOutputStore(nil)
	set := newSet(t, &fake{script: fixed(res)}, &tools.Options{Secrets: secrets(t, theSecret), ReadOutput: true, MaxText: 1024, Outputs: store})
	id := set.Dispatch(t.Context(), runCode, args("x"), nil).OutputID
	page := set.Dispatch(t.Context(), "workspace__w__read_output", []byte(`{"outputId":"`+id+`","limit":100}`), nil)
	if page.Failure != nil || strings.Contains(page.Text, theSecret) || strings.Contains(string(page.JSON()), theSecret) || !strings.Contains(page.Text, "key=") {
		t.Errorf("%s\n%s", page.Text, page.JSON())
	}
}

// TestLateSecrets: late output is a stream of its own.
func TestLateSecrets(t *testing.T) {
	late := func(s string) codeinterp.Output {
		o := out(s)
		o.Late = true
		return o
	}
	live := ""
	set := watched{
		newSet(t, &fake{script: fixed(ok(late("a "+theSecret[:5]), late(theSecret[5:]+" b"), out(theSecret[:5]), late(theSecret[:5])))}, &tools.Options{Secrets: secrets(t, theSecret)}),
		func(e observe.Event) error {
			if len(e.Output.Data) > 0 {
				live += fmt.Sprintf("%t:%s|", e.Output.Late, e.Output.Data)
			}
			return nil
		},
	}
	r := set.Dispatch(t.Context(), runCode, args("x"), nil)
	if want := "true:a |true:[secret] b|false:s3cr3|true:s3cr3|"; live != want || r.Result.Stdout() != theSecret[:5] {
		t.Errorf("got %q, %q", live, r.Result.Stdout())
	}
}

// TestNumericSecret: a JSON value stays JSON.
func TestNumericSecret(t *testing.T) {
	res := ok(codeinterp.Output{Kind: codeinterp.Value, Value: json.RawMessage(`[12345678]`), Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("[12345678]")}}})
	r := run(t, res, &tools.Options{Secrets: secrets(t, "12345678")})
	if v, _ := r.Result.Value(); string(v.Value) != `"[secret]"` || v.Text() != "[[secret]]" {
		t.Errorf("got %s, %s", v.Value, v.Text())
	}
}

// TestScrubbedDefinitions: a secret does not leave by what a tool, a server or a
// provider says about itself.
func TestScrubbedDefinitions(t *testing.T) {
	const token = "hunter2hunter2"
	s := secrets(t, token)
	escaped := `\u0068unter2hunter2`
	tool := tools.Tool{
		Name: "f", Title: "Use " + token, Description: "hunter2\x1b[0mhunter2 " + token,
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"` + token + `":{"enum":["` + escaped + `",12345678901234567890],"description":"` + token + `"}}}`),
		OutputSchema: json.RawMessage(`"` + escaped), // no JSON
	}.Scrubbed(s)
	for _, text := range []string{tool.Title, tool.Description, string(tool.InputSchema)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "unter2hunter2") || !strings.Contains(text, "[secret]") {
			t.Errorf("%q", text)
		}
	}
	if want := `{"properties":{"[secret]":{"description":"[secret]","enum":["[secret]",12345678901234567890]}},"type":"object"}`; string(tool.InputSchema) != want {
		t.Errorf("schema %s", tool.InputSchema)
	}
	if got := s.JSON(json.RawMessage(`{"b":1,"a":2}`)); string(got) != `{"b":1,"a":2}` {
		t.Errorf("a schema without secrets became %s", got)
	}
	ci := &fake{info: &codeinterp.Info{Provider: "fake", Languages: []codeinterp.LanguageInfo{{Name: "python", Notes: "the token is " + token}}}}
	list, err := tools.ForCode("w", ci, &tools.Options{Secrets: s})
	if err != nil || strings.Contains(list[0].Description, token) {
		t.Errorf("%v: %s", err, list[0].Description)
	}
}

// TestSecretsInMIME: types of files and displays are scrubbed, and shown without
// control characters.
func TestSecretsInMIME(t *testing.T) {
	const token = "hunter2hunter2"
	res := codeinterp.Result{Status: codeinterp.StatusOK,
		Outputs:   []codeinterp.Output{{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "text/x-" + token + "\n", Data: []byte("x")}}}},
		Artifacts: []codeinterp.Artifact{{Path: "a", MIME: "text/\x1b[31mhunter2\x1b[0mhunter2"}, {Path: "b", MIME: "text/\x1b[31mplain\n"}}}
	r := run(t, res, &tools.Options{Secrets: secrets(t, token)})
	whole, err := json.Marshal(r.Result)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{r.Text, string(r.JSON()), string(whole)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s", text)
		}
	}
	if text := string(r.JSON()); strings.Contains(text, `\u001b`) || !strings.Contains(text, `"mime":"text/plain`) {
		t.Errorf("%s", text)
	}
}

// colored is the secret as cleaning puts it together.
const colored = "s3cr3t/\x1b[31mpass+word\x1b[0m=\"x\""

// leak returns a part of the secret of six bytes that is in text.
func leak(text string) string {
	for i := 0; i+6 <= len(theSecret); i++ {
		if part := theSecret[i : i+6]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

func TestNoSecretIsSplitOverPages(t *testing.T) {
	filler := strings.Repeat("x\n", 800)
	res := ok(out("key="+colored+" end\n"+filler), display("text/plain", []byte(colored)))
	res.Error = &codeinterp.ProgramError{Name: "E", Message: colored, Traceback: []string{colored}}
	store := tools.NewOutputStore(nil)
	set := newSet(t, &fake{script: fixed(res)}, &tools.Options{Secrets: secrets(t, theSecret), ReadOutput: true, MaxText: 1024, Outputs: store})
	id := set.Dispatch(t.Context(), runCode, args("x"), nil).OutputID
	for _, stream := range []string{"stdout", "display", "error"} {
		for _, limit := range []int64{1, 2, 3, 5, 7, 8, 9, 13, 29} {
			text := ""
			for offset := int64(0); ; {
				r := set.Dispatch(t.Context(), "workspace__w__read_output",
					fmt.Appendf(nil, `{"outputId":%q,"stream":%q,"limit":%d,"offset":%d}`, id, stream, limit, offset), nil)
				var page tools.Page
				if err := json.Unmarshal(r.JSON(), &page); err != nil || r.Failure != nil {
					t.Fatalf("%s: %v", r.Text, err)
				}
				text += page.Text
				if offset = page.NextOffset; offset == 0 || offset > 60 && limit > 1 {
					break
				}
			}
			if part := leak(text); part != "" || !strings.Contains(text, "[secret]") {
				t.Fatalf("%s by %d: %q is in %.200q", stream, limit, part, text)
			}
		}
	}
}

func TestSecretsAtCuts(t *testing.T) {
	s := secrets(t, theSecret)
	for shift := range 64 {
		filler := strings.Repeat("x", 700+shift)
		for _, text := range []string{theSecret, colored} {
			res := ok(out(filler+text+filler+filler+text+filler), out(text[:7]), display("text/plain", []byte("between")), errOut(filler+text), out(text[7:]))
			res.Error = &codeinterp.ProgramError{Name: "E", Message: filler + text, Traceback: []string{filler, text, filler + text}}
			r := run(t, res, &tools.Options{Secrets: s, MaxText: 1024})
			if part := leak(r.Text + "\n\n" + string(r.JSON())); part != "" {
				t.Fatalf("shift %d of %q: %q is in %s\n%s", shift, text, part, r.Text, r.JSON())
			}
		}
	}
	r := run(t, ok(out(strings.Repeat(colored, 2000))), &tools.Options{Secrets: s, MaxText: 1024})
	if part := leak(r.Text); part != "" {
		t.Errorf("%q is in %s", part, r.Text)
	}
}

func TestSecretsInAFailureThatIsCut(t *testing.T) {
	for n := range 40 {
		ci := newManaged()
		ci.script = func(ctxType, string) (codeinterp.Result, error) {
			return codeinterp.NotRun(), fmt.Errorf("%w: %s%s", codeinterp.ErrUnavailable, strings.Repeat("x", 4<<10-60+n), theSecret)
		}
		set := newSet(t, ci, &tools.Options{Secrets: secrets(t, theSecret)})
		if r := set.Dispatch(t.Context(), runCode, args("x"), nil); r.Failure == nil || strings.Contains(r.Text, theSecret[:4]) {
			t.Fatalf("%d: ...%s", n, r.Text[len(r.Text)-200:])
		}
	}
}

func TestEscapedSecrets(t *testing.T) {
	s := secrets(t, "line <one>\nline \"two\" é 𝄞")
	for _, text := range []string{
		`line <one>\nline \"two\" é 𝄞`,
		`line <one>\nline \"two\" \u00e9 \ud834\udd1e`,
		`line \u003cone\u003e\nline \"two\" é 𝄞`,
		`line <one>\nline "two" é 𝄞`,
	} {
		if got := s.Scrub("'" + text + "'"); got != "'[secret]'" {
			t.Errorf("%s: got %s", text, got)
		}
	}
	res := ok(out("x"), codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
		{MIME: "text/x-line <one>\nline \"two\" é 𝄞", Data: []byte("x")},
	}})
	res.Error = &codeinterp.ProgramError{Name: "E", Message: "m", Traceback: []string{"at line <one>", `line "two" é 𝄞 end`}}
	r := run(t, res, &tools.Options{Secrets: s})
	if text := fmt.Sprint(r.Text, r.Result.Error.Traceback, r.Result.Outputs); strings.Contains(text, "line") || !strings.Contains(text, "at [secret] end") {
		t.Errorf("got %s", text)
	}
}

func TestSecretsInNames(t *testing.T) {
	o := display("text/x-"+colored, []byte("x"))
	o.DisplayID = colored
	res := ok(o)
	res.Artifacts = []codeinterp.Artifact{{Path: "dir/" + colored + ".txt"}, {Path: "dir/" + theSecret}}
	r := run(t, res, &tools.Options{Secrets: secrets(t, theSecret)})
	if part := leak(r.Text + string(r.JSON())); part != "" || !strings.Contains(r.Text, "dir/[secret].txt") {
		t.Errorf("%q is in %s\n%s", part, r.Text, r.JSON())
	}
}

package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

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

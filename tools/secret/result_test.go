package secret_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
)

// TestResult: nothing that is text keeps a secret, and what was given is not changed.
func TestResult(t *testing.T) {
	s, err := secret.New("sup3rsecret")
	if err != nil {
		t.Fatal(err)
	}
	const text = "key=sup3rsecret"
	given := codeinterp.Result{
		Outputs: []codeinterp.Output{
			{Kind: codeinterp.Stdout, Data: []byte(text)},
			{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
				{MIME: "text/html", Data: []byte(text)}, {MIME: "application/json", Data: []byte(`{"a":"sup3rsecret"}`)},
				{MIME: "application/sql", Data: []byte(text)}, {MIME: "image/svg+xml", Data: []byte(text)},
			}},
		},
		Error:     &codeinterp.ProgramError{Name: text, Message: text, Traceback: []string{text}},
		Artifacts: []codeinterp.Artifact{{Path: text, MIME: "text/plain", Data: []byte(text), Size: int64(len(text))}, {MIME: "application/x-own", Data: []byte(text)}},
	}
	got := s.Result(given)
	if all := shown(got); strings.Contains(all, "sup3rsecret") || strings.Count(all, "[secret]") != 11 {
		t.Error(all)
	}
	if all := shown(given); strings.Count(all, "sup3rsecret") != 11 {
		t.Errorf("changed: %s", all)
	}
	png := []byte("\x89PNG sup3rsecret \xff")
	if got := s.Result(codeinterp.Result{Artifacts: []codeinterp.Artifact{{Data: png}}}); !bytes.Equal(got.Artifacts[0].Data, png) {
		t.Errorf("%q", got.Artifacts[0].Data)
	}
}

// shown is all text of a Result.
func shown(res codeinterp.Result) string {
	var b strings.Builder
	for _, o := range res.Outputs {
		fmt.Fprintf(&b, "%s\n", o.Data)
		for _, rep := range o.Bundle {
			fmt.Fprintf(&b, "%s\n", rep.Data)
		}
	}
	fmt.Fprintf(&b, "%v\n", *res.Error)
	for _, a := range res.Artifacts {
		fmt.Fprintf(&b, "%s %s\n", a.Path, a.Data)
	}
	return b.String()
}

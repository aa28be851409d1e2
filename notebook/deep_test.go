package notebook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/notebook"
)

// TestOutputsCanBeRead: whatever a program shows, the notebook that is written can be
// read again.
func TestOutputsCanBeRead(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for name, data := range map[string][]byte{
		"shallow": nest(90), "at the bound": nest(94), "beyond": nest(95), "deep": nest(9999), "not UTF-8": []byte("\"\xff\""),
	} {
		t.Run(name, func(t *testing.T) {
			metadata := json.RawMessage(`{"a":` + string(data) + `}`)
			cell := notebook.Cell{Source: "x"}
			cell.Record(&codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
				{Kind: codeinterp.Stdout, Data: []byte("kept")},
				{Kind: codeinterp.Display, Metadata: metadata, Bundle: []codeinterp.Representation{{MIME: "application/json", Data: data}}},
				{Kind: codeinterp.Value, Value: data},
			}})
			file, err := (&notebook.Notebook{Cells: []notebook.Cell{cell}}).Encode()
			if err != nil {
				t.Fatal(err)
			}
			nb, err := notebook.Decode(file)
			if err != nil {
				t.Fatal(err)
			}
			if out := nb.Cells[0].Outputs; len(out) != 3 || out[0].Text != "kept" || len(out[1].Data) != 1 {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A display that a later cell updates, or shows again under its id, is up to date in every
// cell, as in a front end; and what is written is a notebook by its schema.
func TestUpdatedDisplays(t *testing.T) {
	nb := script(`: display("text/plain", "a", {id: "p"}); display("text/plain", "other")`, `: display("text/plain", "b", {id: "p"}); updateDisplay("p", "text/plain", "c")`,
		`: updateDisplay("p", "text/plain", "d"); display("text/plain", "last")`)
	nb.Metadata["kernelspec"] = json.RawMessage(`{"language":"javascript"}`)
	if _, err := notebook.Run(t.Context(), interpreter(t), nb, nil); err != nil {
		t.Fatal(err)
	}
	want := "[1] display_data=\"d\" display_data=\"other\"\n[2] display_data=\"d\"\n[3] display_data=\"d\" display_data=\"last\"\n"
	if got := show(nb); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	b, err := nb.Encode()
	if err != nil || !strings.Contains(string(b), `"name": "javascript"`) || !strings.Contains(string(b), `"display_name": "javascript"`) {
		t.Errorf("%s %v", b, err)
	}
}

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

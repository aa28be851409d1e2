package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
)

func valueChecks() []check {
	valued := func(p *Programs) bool { return len(p.Values) > 0 }
	return []check{
		{
			name: "ValueJSON", row: 22, scope: everyRun, needs: []Feature{Values}, proves: Values, uses: valued,
			clause: "Value is the last expression as JSON, nil if it has no faithful JSON form, for JavaScript row 23; its text/plain is exactly what the runtime prints for it",
			run: func(e *env) {
				for _, x := range e.p.Values {
					res := e.ok(x.Code, nil)
					o, _ := res.Value()
					if _, ok := o.Richest("text/plain"); !ok || x.Text != "" && o.Text() != x.Text || !sameJSON(o.Value, x.JSON) {
						failf("%q: got %s with the Value %s, want %s and the text/plain %q", x.Code, outputLine(o), o.Value, x.JSON, x.Text)
					}
				}
			},
		},
		{
			name: "NoValue", row: 22, scope: everyRun, needs: []Feature{Values}, uses: valued,
			clause: "a program whose last expression is nothing has no value; an empty string is a value",
			run: func(e *env) {
				for _, code := range e.p.NoValue {
					res := e.ok(code, nil)
					if o, ok := res.Value(); ok {
						failf("%q: %s, want no value", code, outputLine(o))
					}
				}
			},
		},
		{
			name: "DisplayBundle", scope: everyRun, needs: []Feature{Displays}, proves: Displays, uses: func(p *Programs) bool { return p.Show != nil },
			clause: "a display is one output with all its representations, richest first",
			run: func(e *env) {
				bundle := []codeinterp.Representation{{MIME: "text/plain", Data: []byte("plain")},
					{MIME: "text/html", Data: []byte("<b>rich</b>")}, {MIME: "image/png", Data: PNG()}}
				res := e.ok(e.p.Show(bundle), &codeinterp.RunOptions{})
				slices.Reverse(bundle)
				must(sameOutputs(res.Outputs, []codeinterp.Output{{Kind: codeinterp.Display, Bundle: bundle}}))
			},
		},
		{
			name: "DisplayUpdated", scope: everyRun, needs: []Feature{Displays, DisplayUpdates}, proves: DisplayUpdates, uses: func(p *Programs) bool { return p.DisplayUpdate != "" },
			clause: "the Result has display updates applied, and OnOutput sees them",
			run:    displayUpdated,
		},
	}
}

// sameJSON compares JSON texts but for white space; empty is equal to nil.
func sameJSON(got json.RawMessage, want string) bool {
	if want == "" {
		return got == nil
	}
	var a, b bytes.Buffer
	return json.Compact(&a, got) == nil && json.Compact(&b, []byte(want)) == nil && a.String() == b.String()
}

func displayUpdated(e *env) {
	var live []codeinterp.Output
	res := e.ok(e.p.DisplayUpdate, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		live = append(live, o)
		return nil
	}})
	if len(res.Outputs) != 1 || res.Outputs[0].Text() != "two" || res.Outputs[0].DisplayID == "" {
		failf("outputs %v, want one display \"two\" with a DisplayID", res.Outputs)
	}
	if len(live) != 2 || live[0].Text() != "one" || live[0].Update || live[1].Text() != "two" || !live[1].Update || live[0].DisplayID != live[1].DisplayID {
		failf("OnOutput saw %v, want \"one\" and its update \"two\"", live)
	}
}

package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
)

func valueChecks() []check {
	valued := func(p *Programs) bool { return len(p.Values) > 0 }
	return []check{
		{
			name: "ValueJSON", row: 22, scope: everyRun, needs: []Feature{Values}, proves: Values, uses: valued,
			clause: "Value is the last expression as JSON, nil if it has no faithful JSON form; for JavaScript row 23",
			run: func(e *env) {
				for _, x := range e.p.Values {
					if o := e.value(x.Code); !sameJSON(o.Value, x.JSON) {
						failf("%q: got Value %s, want %s", x.Code, o.Value, x.JSON)
					}
				}
			},
		},
		{
			name: "ValueText", row: 22, scope: everyRun, needs: []Feature{Values}, uses: valued,
			clause: "a value's text/plain is exactly what the runtime prints for it",
			run: func(e *env) {
				for _, x := range e.p.Values {
					o := e.value(x.Code)
					if _, ok := o.Richest("text/plain"); !ok || x.Text != "" && o.Text() != x.Text {
						failf("%q: %s, want the text/plain %q", x.Code, outputLine(o), x.Text)
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
			name: "DisplayBundle", scope: everyRun, needs: []Feature{Displays}, proves: Displays, uses: func(p *Programs) bool { return p.DisplayBundle != "" },
			clause: "a display is one output with all its representations, richest first",
			run: func(e *env) {
				want := codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png", Data: PNG()},
					{MIME: "text/html", Data: []byte("<b>rich</b>")}, {MIME: "text/plain", Data: []byte("plain")}}}
				res := e.ok(e.p.DisplayBundle, &codeinterp.RunOptions{})
				must(sameOutputs(res.Outputs, []codeinterp.Output{want}))
			},
		},
		{
			name: "DisplayUpdated", scope: everyRun, needs: []Feature{Displays, DisplayUpdates}, proves: DisplayUpdates, uses: func(p *Programs) bool { return p.DisplayUpdate != "" },
			clause: "the Result has display updates applied, and OnOutput sees them",
			run:    displayUpdated,
		},
	}
}

// value runs code, and returns its value.
func (e *env) value(code string) codeinterp.Output {
	res := e.ok(code, nil)
	o, ok := res.Value()
	if !ok {
		failf("%q: no value", code)
	}
	return o
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

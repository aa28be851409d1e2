package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

func valueChecks() []check {
	list := []check{
		{
			name: "ValueJSON", row: 22, proves: Values,
			clause: "Value is the last expression as JSON, nil if it has no faithful JSON form; for JavaScript row 23",
			run: func(ctx context.Context, e *env) error {
				return e.values(ctx, func(x Expression, o codeinterp.Output) error {
					if !sameJSON(o.Value, x.JSON) {
						return fmt.Errorf("got Value %s, want %s", o.Value, x.JSON)
					}
					return nil
				})
			},
		},
		{
			name: "ValueText", row: 22,
			clause: "a value's text/plain is exactly what the runtime prints for it",
			run: func(ctx context.Context, e *env) error {
				return e.values(ctx, func(x Expression, o codeinterp.Output) error {
					if _, ok := o.Richest("text/plain"); !ok {
						return fmt.Errorf("no text/plain in %s", outputLine(o))
					}
					if x.Text == "" {
						return nil
					}
					return wantText("text/plain", o.Text(), x.Text)
				})
			},
		},
		{
			name: "NoValue", row: 22,
			clause: "a program whose last expression is nothing has no value; an empty string is a value",
			run: func(ctx context.Context, e *env) error {
				for _, code := range e.p.NoValue {
					res, err := e.run(ctx, code, nil)
					if err := wantOK(res, err); err != nil {
						return fmt.Errorf("%q: %w", code, err)
					}
					if o, ok := res.Value(); ok {
						return fmt.Errorf("%q: %s, want no value", code, outputLine(o))
					}
				}
				return nil
			},
		},
	}
	for i := range list {
		list[i].scope = everyRun
		list[i].needs = append(list[i].needs, Values)
		list[i].uses = func(p *Programs) bool { return len(p.Values) > 0 }
	}
	return list
}

// values evaluates the language's expressions.
func (e *env) values(ctx context.Context, test func(Expression, codeinterp.Output) error) error {
	for _, x := range e.p.Values {
		res, err := e.run(ctx, x.Code, nil)
		if err := wantOK(res, err); err != nil {
			return fmt.Errorf("%q: %w", x.Code, err)
		}
		o, ok := res.Value()
		if !ok {
			return fmt.Errorf("%q: no value", x.Code)
		}
		if err := test(x, o); err != nil {
			return fmt.Errorf("%q: %w", x.Code, err)
		}
	}
	return nil
}

// sameJSON compares JSON texts but for white space; empty is equal to nil.
func sameJSON(got json.RawMessage, want string) bool {
	if want == "" {
		return got == nil
	}
	var a, b bytes.Buffer
	if json.Compact(&a, got) != nil || json.Compact(&b, []byte(want)) != nil {
		return false
	}
	return a.String() == b.String()
}

func displayChecks() []check {
	return []check{
		{
			name: "DisplayBundle", scope: everyRun, needs: []Feature{Displays}, proves: Displays, uses: func(p *Programs) bool { return p.DisplayBundle != "" },
			clause: "a display is one output with all its representations, richest first",
			run:    displayBundle,
		},
		{
			name: "DisplayUpdated", scope: everyRun, needs: []Feature{Displays, DisplayUpdates}, proves: DisplayUpdates, uses: func(p *Programs) bool { return p.DisplayUpdate != "" },
			clause: "the Result has display updates applied, and OnOutput sees them",
			run:    displayUpdated,
		},
	}
}

// oneDisplay runs code that shows one thing.
func (e *env) oneDisplay(ctx context.Context, code string) (codeinterp.Output, error) {
	res, err := e.run(ctx, code, &codeinterp.RunOptions{})
	if err := wantOK(res, err); err != nil {
		return codeinterp.Output{}, err
	}
	if len(res.Outputs) != 1 || res.Outputs[0].Kind != codeinterp.Display {
		return codeinterp.Output{}, fmt.Errorf("outputs %v, want one display", res.Outputs)
	}
	return res.Outputs[0], nil
}

func wantRepresentation(o codeinterp.Output, mime string, data []byte) error {
	rep, ok := o.Richest(mime)
	if !ok {
		return fmt.Errorf("no %s in %s", mime, outputLine(o))
	}
	if !bytes.Equal(rep.Data, data) {
		return fmt.Errorf("%s: %s, want %s", mime, quote(string(rep.Data)), quote(string(data)))
	}
	return nil
}

func displayBundle(ctx context.Context, e *env) error {
	o := need(e.oneDisplay(ctx, e.p.DisplayBundle))
	want := []codeinterp.Representation{
		{MIME: "image/png", Data: PNG()},
		{MIME: "text/html", Data: []byte("<b>rich</b>")},
		{MIME: "text/plain", Data: []byte("plain")},
	}
	if len(o.Bundle) != len(want) {
		return fmt.Errorf("%s, want %d representations", outputLine(o), len(want))
	}
	for i, rep := range want {
		if o.Bundle[i].MIME != rep.MIME {
			return fmt.Errorf("representation %d is %s, want %s", i, o.Bundle[i].MIME, rep.MIME)
		}
		must(wantRepresentation(o, rep.MIME, rep.Data))
	}
	return nil
}

func displayUpdated(ctx context.Context, e *env) error {
	var live []codeinterp.Output
	res, err := e.run(ctx, e.p.DisplayUpdate, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		live = append(live, o)
		return nil
	}})
	must(wantOK(res, err))
	if len(res.Outputs) != 1 || res.Outputs[0].Text() != "two" || res.Outputs[0].DisplayID == "" {
		return fmt.Errorf("outputs %v, want one display \"two\" with a DisplayID", res.Outputs)
	}
	if len(live) != 2 || live[0].Text() != "one" || live[0].Update || live[1].Text() != "two" || !live[1].Update || live[0].DisplayID != live[1].DisplayID {
		return fmt.Errorf("OnOutput saw %v, want \"one\" and its update \"two\"", live)
	}
	return nil
}

package conformance

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func displayChecks() []check {
	return []check{
		{
			name:   "DisplayImage",
			clause: "a display of a binary type carries the plain bytes",
			scope:  everyRun,
			needs:  []Feature{Displays},
			proves: Displays,
			uses:   func(p *Programs) bool { return p.DisplayPNG != "" },
			run: func(ctx context.Context, e *env) error {
				o, err := e.oneDisplay(ctx, e.p.DisplayPNG)
				if err != nil {
					return err
				}
				return wantRepresentation(o, "image/png", PNG())
			},
		},
		{
			name:   "DisplayText",
			clause: "a display of a textual type carries its text",
			scope:  everyRun,
			needs:  []Feature{Displays},
			uses:   func(p *Programs) bool { return p.DisplayHTML != "" },
			run: func(ctx context.Context, e *env) error {
				o, err := e.oneDisplay(ctx, e.p.DisplayHTML)
				if err != nil {
					return err
				}
				return wantRepresentation(o, "text/html", []byte("<b>rich</b>"))
			},
		},
		{
			name:   "DisplayBundle",
			clause: "a display is one output with all its representations, richest first",
			scope:  everyRun,
			needs:  []Feature{Displays},
			uses:   func(p *Programs) bool { return p.DisplayBundle != "" },
			run:    displayBundle,
		},
		{
			name:   "DisplayOrder",
			clause: "displays stand among the streams in the order of time",
			scope:  everyRun,
			needs:  []Feature{Displays},
			uses:   func(p *Programs) bool { return p.DisplayHTML != "" },
			run: func(ctx context.Context, e *env) error {
				pause := e.p.Pause(100 * time.Millisecond)
				res, err := e.run(ctx, lines(e.p.Print("before"), pause, e.p.DisplayHTML, pause, e.p.Print("after")), &codeinterp.RunOptions{})
				if err := wantOK(res, err); err != nil {
					return err
				}
				got := ""
				for _, o := range res.Outputs {
					got += o.Kind.String() + " "
				}
				return wantText("outputs", got, "stdout display stdout ")
			},
		},
		{
			name:   "DisplayUpdated",
			clause: "the Result has display updates applied, and OnOutput sees them",
			scope:  everyRun,
			needs:  []Feature{Displays, DisplayUpdates},
			proves: DisplayUpdates,
			uses:   func(p *Programs) bool { return p.DisplayUpdate != "" },
			run:    displayUpdated,
		},
		{
			name:   "DisplayCleared",
			clause: "the Result has clears applied, and OnOutput sees them",
			scope:  everyRun,
			needs:  []Feature{Displays, DisplayUpdates},
			uses:   func(p *Programs) bool { return p.DisplayClear != "" },
			run:    displayCleared,
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
	o, err := e.oneDisplay(ctx, e.p.DisplayBundle)
	if err != nil {
		return err
	}
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
		if err := wantRepresentation(o, rep.MIME, rep.Data); err != nil {
			return err
		}
	}
	return nil
}

func displayUpdated(ctx context.Context, e *env) error {
	var live []codeinterp.Output
	res, err := e.run(ctx, e.p.DisplayUpdate, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		live = append(live, o)
		return nil
	}})
	if err := wantOK(res, err); err != nil {
		return err
	}
	if len(res.Outputs) != 1 || res.Outputs[0].Text() != "two" || res.Outputs[0].DisplayID == "" {
		return fmt.Errorf("outputs %v, want one display \"two\" with a DisplayID", res.Outputs)
	}
	if len(live) != 2 || live[0].Text() != "one" || live[0].Update || live[1].Text() != "two" || !live[1].Update || live[0].DisplayID != live[1].DisplayID {
		return fmt.Errorf("OnOutput saw %v, want \"one\" and its update \"two\"", live)
	}
	return nil
}

func displayCleared(ctx context.Context, e *env) error {
	cleared := false
	res, err := e.run(ctx, e.p.DisplayClear, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
		cleared = cleared || o.Kind == codeinterp.Clear
		return nil
	}})
	if err := wantOK(res, err); err != nil {
		return err
	}
	if !cleared {
		return fmt.Errorf("OnOutput saw no clear")
	}
	return wantText("stdout", res.Stdout(), "stays\n")
}

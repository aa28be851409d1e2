package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

func lossChecks() []check {
	return []check{
		{
			name:   "LossOfEachTold",
			clause: "each stream, display and value that lost anything says so in Truncated, under its own name, with what there was and what is kept; all together are within MaxOutput, and OnOutput sees all",
			scope:  everyRun,
			run:    lossOfEach,
		},
		{
			name:   "ErrorLossTold",
			clause: "a program's error whose message or traceback was shortened says so in Truncated, under \"error\", with how long it was",
			scope:  everyRun,
			uses:   func(p *Programs) bool { return p.FailLong != nil },
			run:    errorLossTold,
		},
	}
}

// lossOfEach makes too much of one kind at a time.
func lossOfEach(ctx context.Context, e *env) error {
	const limit, size = 1000, 5000
	text := strings.Repeat("0123456789", size/10)
	programs := map[codeinterp.Kind]string{
		codeinterp.Stdout: e.p.Print(text),
		codeinterp.Stderr: e.p.PrintErr(text),
	}
	if e.p.Show != nil && !e.s.cfg.lacks(Displays, e.language) {
		show := func(text string) string {
			return e.p.Show([]codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}})
		}
		programs[codeinterp.Display] = lines(show("small"), show(text))
	}
	if e.p.Text != nil && !e.s.cfg.lacks(Values, e.language) {
		programs[codeinterp.Value] = e.p.Text(text)
	}
	for kind, code := range programs {
		seen := 0
		res, err := e.run(ctx, code, &codeinterp.RunOptions{MaxOutput: limit, OnOutput: func(o codeinterp.Output) error {
			if o.Kind == kind {
				seen += o.Size()
			}
			return nil
		}})
		if err := wantOK(res, err); err != nil {
			return err
		}
		if err := wantLoss(res, kind, seen); err != nil || seen < size {
			return fmt.Errorf("%d bytes of %s with a MaxOutput of %d, %d of them seen by OnOutput: %w", size, kind, limit, seen, err)
		}
	}
	// Both streams share the limit, which an invariant looks at.
	res, err := e.run(ctx, lines(e.p.PrintErr(text), e.p.Print(text)), &codeinterp.RunOptions{MaxOutput: limit})
	return wantOK(res, err)
}

// wantLoss wants Truncated to tell of one kind's loss: how much OnOutput saw of it,
// how much is kept, and, for a stream, that the rest is where Dropped says.
func wantLoss(res codeinterp.Result, kind codeinterp.Kind, seen int) error {
	var kept, dropped int64
	for _, o := range res.Outputs {
		if o.Kind == kind {
			kept += int64(o.Size())
			dropped += o.Dropped
		}
	}
	told := slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool {
		// What a provider's own parts dropped is not marked.
		return t.Stream == kind.String() && t.Kept == kept && (t.Bytes < 0 || t.Bytes == int64(seen)) &&
			(!isStream(kind) || t.Bytes < 0 || dropped == t.Bytes-t.Kept)
	})
	if !told {
		return fmt.Errorf("%d bytes are kept and %d marked as dropped; got Truncated %+v, want it to tell just that of %s", kept, dropped, res.Truncated, kind)
	}
	return nil
}

// errorLossTold raises errors whose messages are short, and longer than anybody
// keeps.
func errorLossTold(ctx context.Context, e *env) error {
	for _, size := range []int{3000, 300_000} {
		res, err := e.run(ctx, e.p.FailLong(size), nil)
		if err := wantStatus(res, err, codeinterp.StatusError, 1); err != nil {
			return err
		}
		if res.Error == nil {
			return fmt.Errorf("no Error for a message of %d bytes", size)
		}
		kept := strings.Count(res.Error.Message, "x")
		at := slices.IndexFunc(res.Truncated, func(t codeinterp.Truncation) bool { return t.Stream == "error" })
		switch {
		case kept == size && at < 0:
		case at < 0:
			return fmt.Errorf("%d bytes are left of a message of %d, and Truncated is %+v, want it to tell of \"error\"", kept, size, res.Truncated)
		case res.Truncated[at].Bytes >= 0 && res.Truncated[at].Bytes < int64(size):
			return fmt.Errorf("Truncated tells of an error of %d bytes, whose message alone had %d", res.Truncated[at].Bytes, size)
		}
	}
	return nil
}

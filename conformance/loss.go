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
			clause: "each stream, display and value that lost anything says so in Truncated, under its own name",
			scope:  everyRun,
			run:    lossOfEach,
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
		programs[codeinterp.Display] = e.p.Show([]codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}})
	}
	if e.p.Text != nil && !e.s.cfg.lacks(Values, e.language) {
		programs[codeinterp.Value] = e.p.Text(text)
	}
	for kind, code := range programs {
		res, err := e.run(ctx, code, &codeinterp.RunOptions{MaxOutput: limit})
		if err := wantOK(res, err); err != nil {
			return err
		}
		told := slices.ContainsFunc(res.Truncated, func(t codeinterp.Truncation) bool {
			return t.Stream == kind.String() && t.Kept <= limit && (t.Bytes < 0 || t.Bytes >= size)
		})
		if !told {
			return fmt.Errorf("%d bytes of %s with a MaxOutput of %d: got Truncated %+v, want it to tell of %s", size, kind, limit, res.Truncated, kind)
		}
	}
	return nil
}

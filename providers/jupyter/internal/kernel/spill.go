package kernel

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	// spillLimit bounds the wait for each piece of a spool: a thread of the
	// program's can keep the kernel from answering for ever.
	spillLimit = 30 * time.Second

	// maxSpill is what is taken of a spool. The hook that writes it writes no more;
	// a program can forge one that does.
	maxSpill = 1<<30 + 64<<20
)

// fetchSpill gets what the kernel spooled beyond the server's rate limit. What
// it cannot get is told.
func (r *runner) fetchSpill() {
	if !r.e.progress().spilled {
		return
	}
	if r.killed || r.k.IsDown() {
		r.lostToRate()
		return
	}
	for size := 0; size < maxSpill; {
		ctx, cancel := context.WithTimeout(r.ctx, spillLimit)
		out, err := r.k.evaluate(ctx, "", map[string]string{"next": r.k.dialect.spool})
		cancel()
		// A user expression gives the repr of the string, in quotes.
		text := strings.Trim(out["next"].Data.Text, `'"`)
		name, packed, ok := strings.Cut(text, ":")
		switch {
		case err == nil && text == "" && out["next"].Status == "ok":
			return
		case err != nil || !ok:
			r.lostToRate()
			return
		}
		data, err := base64.StdEncoding.DecodeString(packed)
		if err != nil {
			r.lostToRate()
			return
		}
		size += max(len(data), 1<<10) // of empty pieces there is no end else
		r.Out.Write(StreamKind(name), data)
	}
	r.lostToRate()
}

func (r *runner) lostToRate() {
	r.Out.MayLack(codeinterp.TruncatedByRate, codeinterp.Stdout, codeinterp.Stderr)
}

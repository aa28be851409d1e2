package jupyter

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// spillAfterStop bounds the fetching of spooled output after a timeout.
const spillAfterStop = 10 * time.Second

// fetchSpill gets what the kernel spooled beyond the server's rate limit. What
// it cannot get is told.
func (r *runner) fetchSpill() {
	if !r.e.progress().spilled {
		return
	}
	if r.killed || r.ended >= stopCanceled && r.ended != stopInterrupt || r.k.isDown() {
		r.lostToRate()
		return
	}
	ctx, cancel := r.ctx, context.CancelFunc(func() {})
	if r.ended != stopNone {
		ctx, cancel = context.WithTimeout(r.ctx, spillAfterStop)
	}
	defer cancel()
	for {
		out, err := r.k.evaluate(ctx, "", map[string]string{"next": r.k.rt.dialect.spool})
		text := strings.Trim(out["next"].Data["text/plain"], `'"`)
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
		kind := codeinterp.Stdout
		if name == "stderr" {
			kind = codeinterp.Stderr
		}
		r.out.Write(kind, data)
	}
}

func (r *runner) lostToRate() {
	r.out.Lost(codeinterp.Truncation{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByRate})
}

package kernel

import (
	"encoding/base64"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
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
	for {
		out, err := r.k.evaluate(r.ctx, "", map[string]string{"next": r.k.dialect.spool})
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
		r.Out.Write(streamKind(name), data)
	}
}

func (r *runner) lostToRate() {
	r.Out.Lost(codeinterp.Truncation{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByRate})
}

package jupyter_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// spools answers hidden requests, and those for what was spooled with pieces.
func spools(pieces string, asked *atomic.Int64) func(*fake.Kernel, *fake.Message) {
	return func(k *fake.Kernel, req *fake.Message) {
		content := fake.OK(1)
		if strings.Contains(string(req.Content), ".spool.take(") {
			asked.Add(1)
			content = map[string]any{"status": "ok", "user_expressions": map[string]any{"next": map[string]any{
				"status": "ok", "data": map[string]string{"text/plain": "'" + pieces + "'"}}}}
		}
		k.Answer(req, "execute_reply", content)
	}
}

// TestSpillWithoutEnd plays a program that has put a spool without end in the place of its
// kernel's: it is not asked for ever, behind a run and before the next, which tell that.
func TestSpillWithoutEnd(t *testing.T) {
	var asked atomic.Int64
	spilled := func(k *fake.Kernel, req *fake.Message, whose string) {
		k.IOPub(req, "display_data", map[string]any{"data": map[string]string{"application/vnd.toolcell.spill": whose}})
	}
	inFake(t, jupyter.Options{Spill: true}, func(s *fake.Server) {
		s.Hidden = spools("stdout:", &asked)
		plays{"x": func(k *fake.Kernel, req *fake.Message) {
			busy(k, req)
			spilled(k, req, "own")
			reply(k, req)
			idle(k, req)
			spilled(k, req, "late")
		}}.on(s)
	}, func(r *rig) {
		for _, tt := range []struct {
			code string
			most int64
		}{{"x", 5_000}, {"next", 500}} {
			asked.Store(0)
			if res := r.ok(tt.code); reason(res) != codeinterp.TruncatedByRate || asked.Load() == 0 || asked.Load() > tt.most {
				t.Errorf("%s: asked %d times, %+v", tt.code, asked.Load(), res)
			}
		}
		if res := r.ok("next"); len(res.Truncated) > 0 {
			t.Errorf("after that: %+v", res)
		}
	})
}

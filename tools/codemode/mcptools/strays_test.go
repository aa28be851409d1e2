package mcptools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/tools/codemode/mcptools"
)

// TestStrays: lines that are no messages cost neither the call nor the server's state,
// and are told.
func TestStrays(t *testing.T) {
	set := open(t, &mcptools.Options{Timeout: time.Minute}, stdio("my", "scripted"))
	pid, err := valueIn(set, time.Minute, `{"do":"pid"}`)
	if err != nil || len(set.Problems()) > 0 {
		t.Fatal(err, set.Problems())
	}
	noise := []string{"npm WARN deprecated x\x1b[31m", `{"level":"info"}`}
	for _, id := range []string{"1e400", "1.5", "{}", "[]", "true", "null", "-1", `"x"`, "99999"} {
		noise = append(noise, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[]}}`)
	}
	args, _ := json.Marshal(map[string]any{"lines": noise})
	if v, err := valueIn(set, time.Minute, string(args)); err != nil || v != `"fine"` {
		t.Errorf("%s, %v", v, err)
	}
	if again, err := valueIn(set, time.Minute, `{"do":"pid"}`); err != nil || again != pid {
		t.Errorf("process %s, then %s, %v", pid, again, err)
	}
	p := set.Problems()
	if len(p) != 1 || !strings.Contains(p[0].Error(), `8 lines that are no messages, which were left out, the first of them "npm WARN deprecated x"`) {
		t.Errorf("%v", p)
	}
}

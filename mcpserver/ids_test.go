package mcpserver_test

import (
	"strings"
	"testing"
)

// An answer has the id of its request, and of no other.
func TestIDs(t *testing.T) {
	lines := []string{initialize, initialized}
	var wants []string
	for id, want := range map[string]string{
		"0": "0", "9007199254740991": "9007199254740991", `"9007199254740993"`: `"9007199254740993"`, "50.0": "50",
		"7.5": "", "9007199254740993": "", "1e17": "", "1e-400": "", "7.00000000000000000001": "",
	} {
		lines = append(lines, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		if want != "" {
			wants = append(wants, `"id":`+want+`,"result":`)
		} else {
			wants = append(wants, `"id":`+id+`,"error":{"code":-32600,"message":"a number as id must be`)
		}
	}
	talk(t, wants, lines...)
}

// The cancellation of an unknown request cancels no other.
func TestCancelledIDs(t *testing.T) {
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	got := talkUntil(t, []string{`"id":7,`}, initialize, initialized, runMessage("2025-11-25", "ticks 20"), cancel("7.4"), cancel("7.9"), cancel(`"7"`))
	if strings.Contains(got, `"id":null`) || strings.Contains(got, "cancel") || !strings.Contains(got, `"id":7,"result"`) {
		t.Errorf("got %s", got)
	}
}

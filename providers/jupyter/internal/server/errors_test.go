package server

import (
	"strings"
	"testing"
)

func TestServerText(t *testing.T) {
	for body, want := range map[string]string{
		`{"message": "no <b>kernel</b> here", "reason": null}`:                                 "no kernel here",
		"<html><head><style>a > b {}</style><title>403</title></head><body>Go <br>away</body>": "403 Go away",
		"<script>if (a < b) { x() }</script>left <script src=x>":                               "left",
		"<style>never ended":                      "never ended",
		"1 < 2 and no tag":                        "1 < 2 and no tag",
		"Traceback (most recent call last)\nlast": "last",
		strings.Repeat("word ", 100):              strings.Repeat("word ", 40) + "...",
		strings.Repeat("<script>", 1<<20):         "",
		strings.Repeat("<", 1<<20):                strings.Repeat("<", 200) + "...",
	} {
		if got := serverText([]byte(body)); got != want {
			t.Errorf("%.60q: %q, want %q", body, got, want)
		}
	}
	// The whole of what is looked at took half a minute while each tag's end was looked
	// for through all the rest; this is as long as hundreds of such bodies.
	if got := strings.Fields(untagged(strings.Repeat("<script><style>", 1<<20) + "end")); len(got) != 1 {
		t.Errorf("%d words", len(got))
	}
}

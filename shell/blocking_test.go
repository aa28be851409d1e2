//go:build unix

package shell_test

import (
	"strings"
	"testing"
)

// TestBlockingInput: a command that reads before there is anything waits.
func TestBlockingInput(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "echo on; cat; echo $?")
	until(t, s, id, "on\n")
	if _, err := s.Write(t.Context(), id, []byte("late\n"), true); err != nil {
		t.Fatal(err)
	}
	wait(t, s, id)
	if c, _ := s.Output(t.Context(), id, 0, 0); strings.TrimSpace(string(c.Data)) != "on\nlate\n0" {
		t.Errorf("%q", c.Data)
	}
}

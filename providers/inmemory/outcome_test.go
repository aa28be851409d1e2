package inmemory_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestValueOfStopped: a run that is stopped has the value that was known.
func TestValueOfStopped(t *testing.T) {
	s := open(t, nil)
	res, err := s.RunCode(t.Context(), "javascript", `setInterval(() => {}, 5); "known"`, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.Text() != "known" || res.Error != nil {
		t.Errorf("%s, %q, %v, %v", res.Status, res.Text(), res.Error, err)
	}
}

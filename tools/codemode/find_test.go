package codemode

import (
	"context"
	"errors"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestSearchEndsWithTheRun: what a program searches for does not keep the host
// busy when the run is over.
func TestSearchEndsWithTheRun(t *testing.T) {
	all := []function{{Function: codeinterp.Function{Name: "mail", Description: "Sends a mail."}, tool: "mail"}}
	if list, err := find(t.Context(), all, "a mail"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if list, err := find(ctx, all, "mail"); !errors.Is(err, over) {
		t.Errorf("%v, %v", list, err)
	}
}

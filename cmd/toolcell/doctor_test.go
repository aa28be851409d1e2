package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestPlainReasons: what a server has chosen of an error does not act on a terminal.
func TestPlainReasons(t *testing.T) {
	err := &codeinterp.Error{Provider: "jupyter", Op: "adopt", Err: errors.New("it has \x1b[2J\x1b]0;title\x07a\u202e kernel")}
	if got := reason(fmt.Errorf("first\n%w", err)); got != "first\nit has a kernel" {
		t.Errorf("%q", got)
	}
}

package tools_test

import (
	"context"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
)

// A failure of a caller's own tool reaches the model, also without text of its own.
func TestOwnFailure(t *testing.T) {
	set, err := tools.NewSet([]tools.Tool{{Name: "mine", Invoke: func(context.Context, tools.Invocation) *tools.Answer {
		return &tools.Answer{Failure: &tools.Failure{Code: "no_luck", Message: "try tomorrow"}}
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := set.Dispatch(t.Context(), "mine", nil, nil); !strings.Contains(r.Text, "try tomorrow") || !strings.Contains(r.Text, "no_luck") {
		t.Errorf("the model reads %q", r.Text)
	}
}

package tools_test

import (
	"context"
	"slices"
	"testing"

	"github.com/toolcell/toolcell/tools"
)

func TestTrace(t *testing.T) {
	if got := tools.TraceOf(t.Context()); got != (tools.Trace{}) || got.Keys() != nil {
		t.Errorf("%+v of nothing", got)
	}
	want := tools.Trace{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Baggage: "user=a"}
	ctx, cancel := context.WithCancel(tools.WithTrace(t.Context(), want))
	defer cancel()
	got := tools.TraceOf(ctx)
	if got != want || got.Get("traceparent") != want.Parent || got.Get("baggage") != "user=a" || got.Get("tracestate") != "" || got.Get("x") != "" {
		t.Errorf("got %+v", got)
	}
	if keys := got.Keys(); !slices.Equal(keys, []string{"traceparent", "baggage"}) {
		t.Errorf("keys %v", keys)
	}
}

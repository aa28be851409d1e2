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

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                   "plain\n",
		"\x1b[31mred\x1b[0m\a":      "red",
		"1%\r50%\r100%\ndone":       "100%\ndone",
		"a\xffb\u202e":              "a\uFFFDb",
		"\x1b]0;title\x07shown\x00": "shown",
	} {
		if got := tools.CleanText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

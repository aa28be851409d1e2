package lossnote_test

import (
	"slices"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/lossnote"
)

func TestOf(t *testing.T) {
	list := []codeinterp.Truncation{
		{Stream: "stdout", Reason: codeinterp.TruncatedByLimit},
		{Stream: "stdout", Reason: codeinterp.TruncatedByConnection},
		{Stream: "stderr", Reason: codeinterp.TruncatedByConnection},
		{Stream: "stderr", Reason: codeinterp.TruncatedByLimit},
		{Stream: "display", Reason: codeinterp.TruncatedByConnection},
		{Stream: "display", Reason: codeinterp.TruncatedByExit},
	}
	want := []lossnote.Note{
		{Streams: "stdout and stderr", Reason: codeinterp.TruncatedByLimit},
		{Streams: "stdout, stderr and display", Reason: codeinterp.TruncatedByConnection},
		{Streams: "display", Reason: codeinterp.TruncatedByExit},
	}
	if got := lossnote.Of(list); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := lossnote.Of(nil); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

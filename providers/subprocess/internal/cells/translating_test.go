package cells

import (
	"context"
	"errors"
	"testing"
)

// TestTranslating: programs that take much memory wait for each other, until their
// runs end; others do not.
func TestTranslating(t *testing.T) {
	free, err := Wait(t.Context(), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Wait(ended, 8<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("another one: %v", err)
	}
	for _, size := range []int{small, 70 << 10} {
		if free, err := Wait(t.Context(), size); err != nil {
			t.Errorf("one of %d bytes: %v", size, err)
		} else {
			free()
		}
	}
	free()
	if !large.TryAcquire(maxTranslating) || !others.TryAcquire(maxTranslating) {
		t.Error("some is taken still")
	}
	large.Release(maxTranslating)
	others.Release(maxTranslating)
}

package main

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestNothingIsLeft runs whole sessions, one of them stopped in the middle, and
// counts what is left of them.
func TestNothingIsLeft(t *testing.T) {
	none := func(string) string { return "" }
	session := func() {
		for _, api := range apis {
			if err := run(t.Context(), []string{"-api", api}, none, nil, &strings.Builder{}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			out := &trigger{want: "row 2:", do: cancel}
			if err := run(ctx, []string{"-api", api}, none, nil, out); err == nil {
				t.Error("the session was not stopped")
			}
			cancel()
		}
	}
	session()
	before := runtime.NumGoroutine()
	session()
	deadline := time.Now().Add(20 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 64<<10)
		t.Errorf("%d goroutines more than before:\n%s", after-before, stacks[:runtime.Stack(stacks, true)])
	}
}

// trigger is a writer that does something when it sees a text.
type trigger struct {
	want string
	do   func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.do()
	}
	return len(p), nil
}

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestTranslating: programs that take much memory wait for each other, until their
// runs end; others do not.
func TestTranslating(t *testing.T) {
	free, err := translating(t.Context(), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := translating(ended, 8<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("another one: %v", err)
	}
	for _, size := range []int{small, 70 << 10} {
		if free, err := translating(t.Context(), size); err != nil {
			t.Errorf("one of %d bytes: %v", size, err)
		} else {
			free()
		}
	}
	free()
	if used := translations.large.Used() + translations.others.Used(); used != 0 {
		t.Errorf("%d bytes are taken still", used)
	}
}

// TestTranslatingLater: a wait for memory is none of the program's time.
func TestTranslatingLater(t *testing.T) {
	ci, err := New(&Options{Languages: []Language{TypeScript()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if !translations.others.Take(maxTranslating, maxTranslating, t.Context().Done(), nil) {
		t.Fatal("cannot take it")
	}
	time.AfterFunc(3*time.Second, func() { translations.others.Free(maxTranslating) })
	code := "console.log(1) //" + strings.Repeat("x", 70<<10)
	res, err := ci.RunCode(t.Context(), "typescript", code, &codeinterp.RunOptions{Timeout: 2 * time.Second})
	if err != nil || res.Stdout() != "1\n" || res.Duration > 2*time.Second {
		t.Errorf("%v %v %q after %v, %v", res.Status, res.ExitCode, res.Stdout(), res.Duration, err)
	}
}

// TestTranslatingEnded: a run that ends while it waits for memory has not begun.
func TestTranslatingEnded(t *testing.T) {
	ci, err := NewStateful(&Options{Languages: []Language{TypeScript()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	id, err := ci.CreateContext(t.Context(), "typescript", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !translations.others.Take(maxTranslating, maxTranslating, t.Context().Done(), nil) {
		t.Fatal("cannot take it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	code := "console.log(1) //" + strings.Repeat("x", 70<<10)
	res, err := ci.RunInContext(ctx, id, code, nil)
	translations.others.Free(maxTranslating)
	if res.Status != codeinterp.StatusNotRun || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v %v", res.Status, err)
	}
	if res, err := ci.RunInContext(t.Context(), id, code, nil); err != nil || res.Stdout() != "1\n" || res.ExecutionCount != 1 || res.StateLost {
		t.Errorf("after it: %v %q count %d lost %v, %v", res.Status, res.Stdout(), res.ExecutionCount, res.StateLost, err)
	}
}

// TestDeclaresMuch: no more names are remembered than may be, also of one declaration.
func TestDeclaresMuch(t *testing.T) {
	var list strings.Builder
	for i := range maxNames + 1 {
		fmt.Fprintf(&list, "a%d,", i)
	}
	if n := namesAfter(t, "let "+list.String()+"a"); len(n) > 0 {
		t.Errorf("%d names of one declaration", len(n))
	}
	if n := namesAfter(t, "let "+strings.ReplaceAll(list.String(), ",", ";let ")+"a"); len(n) != maxNames {
		t.Errorf("%d names, not %d", len(n), maxNames)
	}
}

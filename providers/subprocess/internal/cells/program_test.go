package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestLocate(t *testing.T) {
	p, err := eraseTypes(t.Context(), "enum E { X, Y = f() } f()")
	if err != nil {
		t.Fatal(err)
	}
	p.Cell = 3
	call := strings.LastIndex(p.Code, "f()") + 1
	e := p.Locate(&codeinterp.ProgramError{Traceback: []string{
		fmt.Sprintf("at E (cell-3:1:%d)", call), fmt.Sprintf("at cell-2:1:%d, cell-31:1:%d", call, call), "\x1b[1mat\x1b[0m",
	}})
	want := []string{"at E (cell-3:1:23)", fmt.Sprintf("at cell-2:1:%d, cell-31:1:%d", call, call), "at"}
	if !slices.Equal(e.Traceback, want) || len(e.RawTraceback) != 3 {
		t.Errorf("%q", e.Traceback)
	}
	if p, err = eraseTypes(t.Context(), "let a: number = ;"); err != nil || p.Failed == nil || p.Locate(nil).Line != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err = eraseTypes(ctx, strings.Repeat("a;", 5000)); p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
}

package codeinterp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func stream(ctx context.Context, code string) (outputs func(func(codeinterp.Output) bool), result func() (codeinterp.Result, error)) {
	e := &echo{}
	return codeinterp.Stream(ctx, func(ctx context.Context, o *codeinterp.RunOptions) (codeinterp.Result, error) {
		return e.RunCode(ctx, "echo", code, o)
	})
}

func TestStreamBreakCancels(t *testing.T) {
	outputs, result := stream(t.Context(), "one\ntwo\nthree\n")
	n := 0
	for range outputs {
		n++
		break
	}
	res, err := result()
	if n != 1 || !errors.Is(err, codeinterp.ErrStopped) || res.Status != codeinterp.StatusCanceled {
		t.Errorf("n = %d, status %v, err = %v", n, res.Status, err)
	}
}

func TestStreamWithoutLoop(t *testing.T) {
	_, result := stream(t.Context(), "one\n")
	if res, err := result(); err != nil || res.Stdout() != "one\n" {
		t.Errorf("stdout %q, err = %v", res.Stdout(), err)
	}
}

func TestStreamPanicOfTheBodyGoesOn(t *testing.T) {
	outputs, result := stream(t.Context(), "one\nsleep\n")
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		for range outputs {
			panic("boom")
		}
	}()
	if _, err := result(); !errors.Is(err, codeinterp.ErrStopped) {
		t.Errorf("err = %v: the run was not stopped", err)
	}
}

func TestStreamCallerCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outputs, result := stream(ctx, "one\nsleep\n")
	for range outputs {
		cancel()
	}
	if _, err := result(); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

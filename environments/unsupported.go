//go:build !unix

package environments

import (
	"context"
	"fmt"
	"runtime"

	"github.com/toolcell/toolcell/codeinterp"
)

func unsupported() error {
	return &codeinterp.Error{Provider: "environments", Op: "new", Err: fmt.Errorf("%w: environments cannot be made on %s", codeinterp.ErrUnavailable, runtime.GOOS)}
}

// New returns codeinterp.ErrUnavailable.
func New(context.Context, *Options) (*Environment, error) { return nil, unsupported() }

// Open returns codeinterp.ErrUnavailable.
func Open(string, string) (*Environment, error) { return nil, unsupported() }

// Root returns codeinterp.ErrUnavailable.
func Root(string) (string, error) { return "", unsupported() }

// Sweep returns codeinterp.ErrUnavailable.
func Sweep(context.Context, string, int64, []string) ([]string, int64, error) {
	return nil, 0, unsupported()
}

// Remove returns codeinterp.ErrUnavailable.
func (e *Environment) Remove(context.Context) error { return unsupported() }

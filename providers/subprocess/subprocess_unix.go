//go:build unix

package subprocess

import (
	"errors"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

const provider = "subprocess"

// An Interpreter runs each program in a process and a working directory of its
// own, which are both gone when RunCode returns.
type Interpreter struct {
	*driver.Interpreter
	host *host
}

// A Stateful is an interpreter with contexts: each has a process of its own, in
// which its programs run one after the other. A context of a language without a
// Driver cannot be created; Describe says which have one.
type Stateful struct {
	*driver.Stateful
	host *host
}

var (
	_ driver.Commander               = (*host)(nil)
	_ codeinterp.Describer           = (*Interpreter)(nil)
	_ codeinterp.StatefulInterpreter = (*Stateful)(nil)
	_ codeinterp.ContextManager      = (*Stateful)(nil)
	_ codeinterp.Describer           = (*Stateful)(nil)
)

// New returns an interpreter without contexts. opts may be nil. It fails with
// codeinterp.ErrUnavailable where no language is found, or not one that opts
// lists, and with codeinterp.ErrIsolation where the isolation cannot be had.
func New(opts *Options) (*Interpreter, error) {
	h, err := open(opts)
	if err != nil {
		return nil, err
	}
	return &Interpreter{driver.New(h, h.config()), h}, nil
}

// NewStateful returns an interpreter with contexts. opts may be nil. It fails
// as [New] does.
func NewStateful(opts *Options) (*Stateful, error) {
	h, err := open(opts)
	if err != nil {
		return nil, err
	}
	rt, err := h.keeping()
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "new", Err: errors.Join(err, h.Close(h.life))}
	}
	return &Stateful{driver.NewStateful(rt, h.config()), h}, nil
}

func open(opts *Options) (*host, error) {
	h, err := newHost(opts)
	if err != nil {
		return nil, &codeinterp.Error{Provider: provider, Op: "new", Err: err}
	}
	return h, nil
}

func (h *host) config() driver.Config {
	return driver.Config{Grace: h.opts.Grace, MaxContexts: h.opts.MaxContexts}
}

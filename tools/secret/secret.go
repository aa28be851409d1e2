// Package secret replaces registered values in what comes out of a run: in text, in a
// Result, in errors. The tools do it for every run; see Options.Secrets of package
// tools. [Middleware] does it for any interpreter.
//
// # Security
//
// It is a second line of defence, for values that a program got to see: a program
// can always encode them in a way that is not looked for. Do not give a program
// values that must not come out.
package secret

import (
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/scrub"
)

// A Scrubber replaces secrets, which are values that must not come out of a run. A
// nil *Scrubber replaces nothing. It is safe for concurrent use.
type Scrubber struct{ set *scrub.Set }

// New registers values of at least four bytes. It also finds their base64 forms
// (within longer encoded text too), their URL-encoded forms, and forms escaped as in
// JSON or as runtimes print strings. It takes some 6 KiB of memory for a value of
// 40 bytes.
func New(values ...string) (*Scrubber, error) {
	set, err := scrub.New(values...)
	if err != nil {
		return nil, err
	}
	return &Scrubber{set}, nil
}

// Set returns the secrets for other packages of this module. It works on nil.
func (s *Scrubber) Set() *scrub.Set {
	if s == nil {
		return nil
	}
	return s.set
}

// Scrub returns text with "[secret]" in place of every secret.
func (s *Scrubber) Scrub(text string) string { return s.Set().Scrub(text) }

// JSON scrubs the keys and the strings of a JSON text, also where they are written
// with escapes. Text that is not JSON is scrubbed as it is.
func (s *Scrubber) JSON(raw json.RawMessage) json.RawMessage { return s.Set().JSON(raw) }

// Result scrubs a Result, with the contents of files that are UTF-8; Size and SHA256
// of a file remain those of what the run wrote. It copies what it changes.
func (s *Scrubber) Result(res codeinterp.Result) codeinterp.Result { return s.Set().Result(res) }

// Error returns an error with scrubbed text, which errors.Is treats like err.
func (s *Scrubber) Error(err error) error { return s.Set().Error(err) }

// Middleware scrubs the outputs, Results and errors of an interpreter, for programs
// that run code themselves. Middlewares outside of it, such as [codeinterp.Log], see
// what is scrubbed.
func Middleware(s *Scrubber) codeinterp.Middleware {
	return observe.Middleware(observe.Options{Secrets: s.Set()})
}

//go:build linux

package jupyter_test

import (
	"hash/crc32"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// A session is a context on a real server.
type session struct {
	t  *testing.T
	ci *jupyter.Stateful
	id codeinterp.ContextID
}

func realSession(t *testing.T, s *server, opts jupyter.Options) *session {
	t.Helper()
	ci, err := open(t.Context(), s, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
	t.Cleanup(func() { _ = ci.Close() })
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, ci, id}
}

func (s *session) run(code string, opts *codeinterp.RunOptions) (codeinterp.Result, error) {
	return s.ci.RunInContext(s.t.Context(), s.id, code, opts)
}

func (s *session) ok(code string) *codeinterp.Result {
	s.t.Helper()
	res, err := s.run(code, nil)
	if err != nil || !res.OK() {
		s.t.Fatalf("%q: %+v, %v", code, res, err)
	}
	return &res
}

// generations are a server for each kernel generation. In make test, which has no time
// for both, it is one of them, which the test's name decides.
func generations(t *testing.T) []string {
	list := []string{"server6", "server7"}
	if race.Less() {
		at := crc32.ChecksumIEEE([]byte(t.Name())) % 2
		return list[at : at+1]
	}
	return list
}

// everywhere are generations and, but with -short, a gateway, where kernels are on
// another host for all that their client knows.
func everywhere(t *testing.T) []string {
	if testing.Short() {
		return generations(t)
	}
	return append(generations(t), "gateway")
}

// both runs a test against each of generations.
func both(t *testing.T, f func(t *testing.T, s *server)) {
	for _, name := range generations(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, sharedServer(t, name))
		})
	}
}

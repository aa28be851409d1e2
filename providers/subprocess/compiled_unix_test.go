//go:build unix

package subprocess

import "testing"

// TestCompiledOnce asks a Python twice: the second time it has nothing to compile,
// and what another one made is not taken for its own.
func TestCompiledOnce(t *testing.T) {
	ask := func(forks bool) *language {
		l := &language{Language: Python(), forks: forks}
		l.Driver.Source += "\n# of this test alone"
		l.path = candidates(&l.Language)[0]
		if err := l.probePython(); err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b := ask(true), ask(true)
	if &a.boot[0] != &b.boot[0] || &a.forkBoot[0] != &b.forkBoot[0] {
		t.Error("compiled twice")
	}
	if l := ask(false); l.forkBoot != nil {
		t.Error("a fork server was compiled that nobody starts")
	}
	own := compilations{}
	if _, err := own.take(compilation{"source", "3.1"}, "00000001x"); err != nil {
		t.Fatal(err)
	}
	if known := own.known("source"); known != "3.1" {
		t.Errorf("%q is known", known)
	}
	if known := own.known("other"); known != "" {
		t.Errorf("%q is known of another source", known)
	}
	for _, printed := range []string{"", "x", "00000002x", "00000001x00000001y"} {
		if code, err := own.take(compilation{"source", "3.2"}, printed); err == nil {
			t.Errorf("a Python that printed %q has %q", printed, code)
		}
	}
}

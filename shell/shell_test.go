//go:build unix

package shell_test

import (
	"errors"
	"os"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
)

func TestMain(m *testing.M) { os.Exit(leftover.Run(m)) }

// open returns a Shell over processes in landlock mode.
func open(t testing.TB, o *shell.Options) *shell.Shell {
	t.Helper()
	ci, err := subprocess.New(&subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Languages: []subprocess.Language{subprocess.Bash()}})
	if errors.Is(err, codeinterp.ErrIsolation) && os.Getenv("CI") == "" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	s, err := shell.New(ci, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestNone(t *testing.T) {
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if _, err := shell.New(ci, nil); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

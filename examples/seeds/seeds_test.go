//go:build real && linux

package seeds

import (
	"os"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

func TestMain(m *testing.M) {
	subprocess.RunKeeper() // for the life cycle
	os.Exit(leftover.Run(m))
}

// capsule opens a workspace over a directory of its own, which goes with close.
func capsule(opts *local.Options) (ws *workspace.Workspace, done func()) {
	dir := must(os.MkdirTemp("", ""))
	check(os.Chmod(dir, 0o755)) // for the program's user, on a root host
	ws = must(local.New("demo", dir, opts))
	return ws, func() {
		check(ws.Close())
		check(os.RemoveAll(dir))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

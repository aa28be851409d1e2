//go:build unix

package files

import (
	"fmt"
	"io"
	"os"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// A Dir is an open directory of the host.
type Dir interface {
	codeinterp.FS
	io.Closer
}

// OpenDir opens a directory of the host for [New]. No path, link or race with
// who changes the directory meanwhile leads out of it; FIFOs, sockets and
// devices are neither read nor waited for. What it creates belongs to the host's
// user. It is there on Unix.
func OpenDir(path string) (Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrInvalid, err)
	}
	return rootfs.New(root, nil), nil
}

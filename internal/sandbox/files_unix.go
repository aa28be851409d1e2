//go:build unix

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
)

// Limits returns what holds for every process whose Cmd says nothing else.
func (s *Sandbox) Limits() Limits { return s.opts.Limits }

// Owner returns as whom a program runs that was started in workdir, a directory
// of TempDir's; also where it starts in a Cwd. other tells that this is not the
// host's own user.
func (s *Sandbox) Owner(workdir string) (uid, gid int, other bool, err error) {
	if s.ids == nil {
		return 0, 0, false, nil
	}
	info, err := os.Lstat(workdir)
	if err != nil {
		return 0, 0, false, fmt.Errorf("%w: working directory: %w", codeinterp.ErrUnavailable, bare(err))
	}
	st, ok := sysStat(info)
	if !ok || st.Uid == 0 {
		return 0, 0, false, fmt.Errorf("%w: working directory: it is nobody's", codeinterp.ErrIsolation)
	}
	return int(st.Uid), int(st.Gid), true, nil
}

// Root opens the directory to work in it. It fails with ErrInvalid where the
// path leads elsewhere by now.
func (d *Dir) Root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fmt.Errorf("%w: the working directory: %w", codeinterp.ErrInvalid, bare(err))
	}
	var st unix.Stat_t
	at, err := root.Open(".")
	if err == nil {
		err = unix.Fstat(int(at.Fd()), &st)
		at.Close()
	}
	if err != nil || uint64(st.Dev) != d.dev || uint64(st.Ino) != d.ino {
		root.Close()
		return nil, fmt.Errorf("%w: the working directory was replaced or removed", codeinterp.ErrInvalid)
	}
	return root, nil
}

//go:build unix

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/diskuse"
	"github.com/toolcell/toolcell/internal/sandbox/rmtree"
	"slices"
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
		return 0, 0, false, fmt.Errorf("%w: working directory: its owner is unknown", codeinterp.ErrIsolation)
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

// RemoveAll removes dir and what is in it, also directories that a program made
// unreadable or nested thousands of levels deep. It follows no symbolic links. A missing
// directory is no error.
func RemoveAll(dir string) error { return rmtree.RemoveAll(dir) }

// Used returns the bytes on disk, and the files and directories, in a directory, as far as
// a walk of two seconds finds them; nothing where directories are not measured.
func Used(dir string) (bytes int64, inodes int) { return diskuse.Used(dir) }

// systemDirs are where systems keep programs and their libraries.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}

// SystemDirs returns the directories that every program may read and execute,
// in each mode, without their being listed in a Cmd.
func SystemDirs() []string { return slices.Clone(systemDirs) }

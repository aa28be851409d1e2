//go:build unix

package environments

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// settle makes the files in a directory a user's, unless uid is -1, readable by all
// and writable by that user only. It fails if there is anything but directories, files
// and links, and follows no link. Files that look like programs become executable, since
// installers cannot do that in every mode.
func settle(dir string, uid, gid int) error {
	root, err := openPlain(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		about, err := root.Lstat(name)
		if err != nil {
			return err
		}
		mode := about.Mode()
		switch {
		case mode&fs.ModeSymlink != 0:
		case mode.IsDir():
			err = root.Chmod(name, 0o755)
		case !mode.IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", d.Name())
		default:
			perm := fs.FileMode(0o644)
			if mode&0o100 != 0 || isProgram(root, name) {
				perm = 0o755
			}
			err = root.Chmod(name, perm) // no set-user-ID bit either
		}
		if err == nil && uid >= 0 {
			err = root.Lchown(name, uid, gid)
		}
		return err
	})
}

// isProgram reports whether a file begins as scripts and ELF programs do.
func isProgram(root *os.Root, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 4)
	n, _ := f.Read(b)
	return bytes.HasPrefix(b[:n], []byte("#!")) || bytes.Equal(b[:n], []byte("\x7fELF"))
}

// openPlain opens a directory that is not a link.
func openPlain(dir string) (*os.Root, error) {
	if about, err := os.Lstat(dir); err != nil {
		return nil, err
	} else if !about.IsDir() {
		return nil, fmt.Errorf("%s is no directory", filepath.Base(dir))
	}
	return os.OpenRoot(dir)
}

const maxPlain = 64 << 20 // bytes that readPlain reads

// readPlain reads a file below a directory. Neither may be a link.
func readPlain(dir, name string) ([]byte, error) {
	root, err := openPlain(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if about, err := root.Lstat(name); err != nil {
		return nil, err
	} else if !about.Mode().IsRegular() || about.Size() > maxPlain {
		return nil, fmt.Errorf("%s is no file, or a very large one", name)
	}
	return root.ReadFile(name)
}

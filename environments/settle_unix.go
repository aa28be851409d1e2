//go:build unix

package environments

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// checkStart checks that an environment's Python is the one that it was made with, and
// takes its library from there. Packages can hold files for these places too.
func checkStart(dir, python string) error {
	real, err := filepath.EvalSymlinks(python)
	if err != nil {
		return err
	}
	if is, err := filepath.EvalSymlinks(filepath.Join(dir, "bin", "python")); err != nil || is != real {
		return errors.New("a package has replaced bin/python")
	}
	entries, err := os.ReadDir(filepath.Join(dir, "bin"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if name == "pyvenv.cfg" || name == "pybuilddir.txt" || strings.HasSuffix(name, "._pth") {
			return fmt.Errorf("a package has bin/%s, which changes how Python starts", e.Name())
		}
	}
	config, err := readPlain(dir, "pyvenv.cfg")
	if err != nil {
		return err
	}
	for line := range bytes.Lines(config) {
		key, value, _ := bytes.Cut(line, []byte("="))
		if string(bytes.ToLower(bytes.TrimSpace(key))) != "home" {
			continue
		}
		home, err := filepath.EvalSymlinks(string(bytes.TrimSpace(value)))
		if err == nil && (home == filepath.Dir(real) || home == realDir(python)) {
			return nil
		}
		break
	}
	return errors.New("a package has replaced pyvenv.cfg")
}

func realDir(path string) string {
	dir, _ := filepath.EvalSymlinks(filepath.Dir(path))
	return dir
}

//go:build unix

package interpreter

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// libraryDirs are the directories of an installation that an interpreter in
// its bin needs. Its root is never opened: for a file in ~/bin that is the whole home.
var libraryDirs = []string{"lib", "lib64"}

// A rootFinder collects the files and directories that an interpreter needs
// beside the system's.
type rootFinder struct {
	homes []string // real paths
	list  []string
}

// Homes returns the home directories of the user, by their real paths.
func Homes() []string {
	homes := []string{os.Getenv("HOME")}
	if u, err := user.Current(); err == nil {
		homes = append(homes, u.HomeDir)
	}
	for n, home := range homes {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			homes[n] = real
		}
	}
	return homes
}

// Roots returns the files and directories that an interpreter needs beside the
// system's: the file itself and the libraries that were installed with it.
func Roots(path string) []string {
	f := &rootFinder{homes: Homes()}
	f.interpreter(path)
	return f.roots()
}

// PythonRoots is Roots for a Python with the given prefixes and sys.path.
func PythonRoots(path string, prefixes, libraries []string) []string {
	f := &rootFinder{homes: Homes()}
	f.interpreter(path)
	for _, prefix := range prefixes {
		f.file(filepath.Join(prefix, "pyvenv.cfg"))
		f.installation(prefix)
		for _, dir := range libraryDirs {
			shared, _ := filepath.Glob(filepath.Join(prefix, dir, "libpython*"))
			for _, lib := range shared {
				f.file(lib)
			}
		}
	}
	// A path file can name any directory: only those count that were
	// installed with this Python.
	for _, dir := range libraries {
		if slices.ContainsFunc(prefixes, func(p string) bool {
			return Within(dir, filepath.Join(p, "lib")) || Within(dir, filepath.Join(p, "lib64"))
		}) {
			f.directory(dir)
		}
	}
	return f.roots()
}

func (f *rootFinder) interpreter(path string) {
	f.file(path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	f.file(real)
	if dir := filepath.Dir(real); filepath.Base(dir) == "bin" {
		f.installation(filepath.Dir(dir))
	}
}

// installation adds the libraries below a prefix that holds one installation: not those of
// any "local", which holds other things of the user's.
func (f *rootFinder) installation(prefix string) {
	real, err := filepath.EvalSymlinks(prefix)
	if base := filepath.Base(real); err != nil || f.wide(real) || base == "local" || base == ".local" {
		return
	}
	for _, dir := range libraryDirs {
		f.directory(filepath.Join(prefix, dir))
	}
}

// wide reports whether opening a directory would open a home, or a directory directly
// below /, such as /opt.
func (f *rootFinder) wide(real string) bool {
	return strings.Count(real, "/") < 2 || slices.ContainsFunc(f.homes, func(home string) bool { return Within(home, real) })
}

// directory adds a directory if it exists and would not open too much.
func (f *rootFinder) directory(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	if info, err := os.Stat(real); err == nil && (!info.IsDir() || !f.wide(real)) {
		f.list = append(f.list, dir, real)
	}
}

// file adds a file if it exists.
func (f *rootFinder) file(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		f.list = append(f.list, path)
	}
}

// roots returns the list without the system's directories, which every program may
// read, and without what is inside another directory of the list.
func (f *rootFinder) roots() []string {
	slices.Sort(f.list)
	var list []string
	for _, path := range f.list {
		if !slices.ContainsFunc(slices.Concat(sandbox.SystemDirs(), list), func(dir string) bool { return Within(path, dir) }) {
			list = append(list, path)
		}
	}
	return list
}

// Within reports whether path is dir or inside it.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

//go:build unix

package interpreter

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/sandbox"
)

// lettersOf matches the part of an interpreter's name without its version: python of
// python3.11.
var lettersOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]*`) })

// SameInterpreter reports whether the file that a link leads to is the interpreter
// that the link's name promises: nodejs is node.
func SameInterpreter(link, file string) bool {
	name := func(path string) string {
		return strings.TrimSuffix(lettersOf().FindString(filepath.Base(path)), "js")
	}
	return name(link) == name(file)
}

var errFound = errors.New("found")

// LinkedThrough returns the directory of dirs, which are real paths, that a path lies
// in or that a link on its way leads through; "" if there is none.
func LinkedThrough(path string, dirs []string) (through string) {
	_, _ = sandbox.Follow(path, func(at, _ string) error {
		n := slices.IndexFunc(dirs, func(dir string) bool { return Within(at, dir) })
		if n < 0 {
			return nil
		}
		through = dirs[n]
		return errFound
	})
	return through
}

// RealDirs returns the real paths of the absolute paths that exist.
func RealDirs(paths []string) []string {
	var dirs []string
	for _, dir := range paths {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

//go:build unix

package interpreter

import (
	"errors"
	"fmt"
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

// sameInterpreter reports whether the file that a link leads to is the interpreter
// that the link's name promises: nodejs is node.
func sameInterpreter(link, file string) bool {
	name := func(path string) string {
		return strings.TrimSuffix(lettersOf().FindString(filepath.Base(path)), "js")
	}
	return name(link) == name(file)
}

// Askable returns what the host may start to ask an interpreter what it is. That is the
// file itself, or, where a path to it leads through changeable, directories that programs
// change, the interpreter that it is a link to.
func Askable(path string, changeable []string) (string, error) {
	dir := LinkedThrough(path, changeable)
	if dir == "" {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if LinkedThrough(real, changeable) != "" {
		return "", fmt.Errorf("programs change what is in %s, and could change what the host starts: use an interpreter from outside, or an environment made by it without copies", dir)
	}
	if !sameInterpreter(path, real) {
		return "", fmt.Errorf("programs change what is in %s, and it is a link to %s, which has another name", dir, real)
	}
	return real, nil
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

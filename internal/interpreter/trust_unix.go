//go:build unix

package interpreter

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxLinks is how many links the kernel follows.
const maxLinks = 40

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

// LinkedThrough returns the directory of dirs, which are real paths, that a path lies
// in or that a link on its way leads through; "" if there is none.
func LinkedThrough(path string, dirs []string) string {
	at, rest := "/", strings.Split(filepath.Clean(path), "/")
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		name := rest[0]
		rest = rest[1:]
		switch next := filepath.Join(at, name); {
		case name == "":
		case name == "..":
			at = filepath.Dir(at)
		default:
			if n := slices.IndexFunc(dirs, func(dir string) bool { return Within(next, dir) }); n >= 0 {
				return dirs[n]
			}
			to, err := os.Readlink(next)
			if err != nil {
				at = next
				continue
			}
			if links++; filepath.IsAbs(to) {
				at = "/"
			}
			rest = append(strings.Split(to, "/"), rest...)
		}
	}
	return ""
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

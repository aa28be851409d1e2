//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const maxLinks = 40 // the kernel's

// follow returns where an absolute path leads, and calls visit with each symbolic
// link on the way there, as its path without links, and with what it says.
func follow(path string, visit func(link, target string) error) (string, error) {
	at, names, links := "/", split(path), 0
	for len(names) > 0 {
		next := filepath.Join(at, names[0])
		names = names[1:]
		target, err := os.Readlink(next)
		if err != nil {
			at = next // no link, or not there, which Stat says
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		if err := visit(next, target); err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		names = append(split(target), names...)
	}
	return at, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

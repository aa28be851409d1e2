package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
)

// systemFiles are what processes that are ready have read, or hold, of the system's.
var systemFiles = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/ld.so.cache"}

// watched returns what must stay as it is for processes that are ready to be what a
// run would start: this command, interpreters, where their packages are, and files
// of the system.
func watched(info codeinterp.Info) (map[string]string, error) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	paths := append([]string{exe}, systemFiles...)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) { // where another Python may come first
		if filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, "python3"), filepath.Join(dir, "python"))
		}
	}
	for _, l := range info.Languages {
		paths = append(paths, l.Path, l.Prefix, filepath.Join(l.Prefix, "pyvenv.cfg"))
		for _, root := range append(l.Roots, l.Prefix) {
			for _, in := range []string{"", "*-packages", "python3*/*-packages", "lib/python3*/*-packages", "local/lib/python3*/*-packages"} {
				found, _ := filepath.Glob(filepath.Join(root, in))
				paths = append(paths, found...)
			}
		}
	}
	seen := map[string]string{}
	for _, path := range paths {
		if path != "" {
			seen[path] = stampOf(path)
		}
	}
	return seen, nil
}

// stampOf is empty for what is not there.
func stampOf(path string) string {
	s, _ := stamp(path)
	return s
}

func unchanged(seen map[string]string) error {
	for path, was := range seen {
		if stampOf(path) != was {
			return fmt.Errorf("%s has changed", path)
		}
	}
	return nil
}

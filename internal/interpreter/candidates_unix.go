//go:build unix

package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Candidates returns the files that commands may mean, in order: for Python those of
// the environment that VIRTUAL_ENV or CONDA_PREFIX names, then those on PATH, then
// those where systems keep interpreters. A command with a slash means itself. The
// working directory is not searched: a program that can write there would choose what
// the host executes.
func Candidates(commands []string, python bool) []string {
	dirs := append(filepath.SplitList(os.Getenv("PATH")), "/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin")
	if python {
		var own []string
		for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
			if prefix := os.Getenv(name); filepath.IsAbs(prefix) {
				own = append(own, filepath.Join(prefix, "bin"))
			}
		}
		dirs = append(own, dirs...)
	}
	var list []string
	for _, command := range commands {
		if strings.ContainsRune(command, '/') {
			if path, err := filepath.Abs(command); err == nil {
				list = append(list, path)
			}
			continue
		}
		list = append(list, executables(dirs, command)...)
	}
	all := list
	list = nil
	for _, path := range all {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// OnPath returns the executables of a name on PATH that do not lie in dirs, which
// are real paths, and are not reached through them.
func OnPath(name string, dirs []string) []string {
	list := executables(filepath.SplitList(os.Getenv("PATH")), name)
	return slices.DeleteFunc(list, func(path string) bool { return LinkedThrough(path, dirs) != "" })
}

// executables returns the executable files of a name in dirs.
func executables(dirs []string, name string) []string {
	var list []string
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // /bin is /usr/bin
		}
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			list = append(list, path)
		}
	}
	return list
}

// Prefix returns the directory above the bin of an interpreter, or "" if it lies in
// no bin.
func Prefix(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
		return filepath.Dir(dir)
	}
	return ""
}

//go:build unix

package subprocess

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environmentVariables name the Python environment that the host was started
// in: by activate or "uv run", and by conda.
var environmentVariables = []string{"VIRTUAL_ENV", "CONDA_PREFIX"}

// candidates returns the files that l's commands may mean, in order: of Python
// those of an active environment, then what is on PATH, then what is where
// systems keep interpreters. A command with a slash means itself. The working
// directory is not looked at: whoever can write there would choose what the
// host executes.
func candidates(l *Language) []string {
	dirs := append(filepath.SplitList(os.Getenv("PATH")), "/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin")
	if l.kind == pythonKind {
		dirs = append(environmentDirs(), dirs...)
	}
	var list []string
	for _, command := range l.Commands {
		if strings.ContainsRune(command, '/') {
			if path, err := filepath.Abs(command); err == nil {
				list = append(list, path)
			}
			continue
		}
		list = append(list, executables(dirs, command)...)
	}
	return distinct(list)
}

// environmentDirs returns where the interpreters of active environments are.
func environmentDirs() []string {
	var dirs []string
	for _, name := range environmentVariables {
		if prefix := os.Getenv(name); filepath.IsAbs(prefix) {
			dirs = append(dirs, filepath.Join(prefix, "bin"))
		}
	}
	return dirs
}

// executables returns the files of a name in dirs that can be executed.
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

// distinct returns the paths without those that come again.
func distinct(paths []string) []string {
	var list []string
	for _, p := range paths {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// prefixOf returns the directory above the bin that an interpreter is in,
// empty where it is in none.
func prefixOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
		return filepath.Dir(dir)
	}
	return ""
}

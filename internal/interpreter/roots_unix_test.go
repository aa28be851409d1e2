//go:build unix

package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRoots: of where an interpreter was installed only its libraries are
// opened, and of a directory that others share not even those.
func TestRoots(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "home")
	t.Setenv("HOME", home)
	for _, dir := range []string{
		"home/bin", "home/lib", "home/.ssh", "home/.local/bin", "home/.local/lib/python3.11/site-packages", "home/.local/share/keyrings",
		"home/opt/node/bin", "home/opt/node/lib/node_modules", "home/venv/bin", "home/venv/lib/python3.11", "home/trap/bin", "project/bin", "project/lib",
	} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{
		"home/bin/node", "home/bin/python3", "home/.local/bin/python3", "home/opt/node/bin/node", "home/venv/pyvenv.cfg",
		"home/venv/bin/python3", "home/trap/bin/node", "project/bin/node",
	} {
		if err := os.WriteFile(filepath.Join(top, file), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home/bin/linked": "home/opt/node/bin/node", "home/trap/lib": "home"} {
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(home, "trap/lib64")); err != nil {
		t.Fatal(err)
	}
	local := filepath.Join(home, ".local")
	for _, c := range []struct {
		name string
		got  []string
		want string
	}{
		{"in ~/bin", Roots(home + "/bin/node"), "home/bin/node"},
		{"linked from ~/bin", Roots(home + "/bin/linked"), "home/bin/linked home/opt/node/bin/node home/opt/node/lib"},
		{"libraries that are the home", Roots(home + "/trap/bin/node"), "home/trap/bin/node"},
		{"of its own", Roots(top + "/project/bin/node"), "project/bin/node project/lib"},
		{"the system's", Roots("/bin/sh"), ""},
		{"python in ~/.local", PythonRoots(local+"/bin/python3", []string{local}, []string{local + "/lib/python3.11/site-packages", local + "/lib/python3.11", home, "/", ""}), "home/.local/bin/python3 home/.local/lib/python3.11"},
		{"python in the home", PythonRoots(home+"/bin/python3", []string{home, "/usr"}, []string{"/usr/lib/python3", home + "/.ssh"}), "home/bin/python3"},
		{"a virtual environment", PythonRoots(home+"/venv/bin/python3", []string{home + "/venv", "/usr"}, []string{"/usr/lib/python3", home}), "home/venv/bin/python3 home/venv/lib home/venv/pyvenv.cfg"},
	} {
		got := slices.Clone(c.got)
		for i := range got {
			got[i], _ = filepath.Rel(top, got[i])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: roots are %q, want %q", c.name, got, c.want)
		}
	}
}

//go:build real

package subprocess_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestInterpreterOfRoot: a root host's programs run in an environment that only
// root reaches, as fresh processes and warm ones, and reach nothing beside it.
func TestInterpreterOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only programs of a root host are somebody else")
	}
	home := leftover.Dir(t)
	t.Setenv("HOME", home)
	venv, code := ofRoot(t, home)
	l := subprocess.Python()
	l.Commands = []string{filepath.Join(venv, "bin", "python3")}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		o.Languages = []subprocess.Language{l}
		for _, warm := range []*subprocess.Warm{nil, {Preload: []string{"kept"}}} {
			o.Warm = warm
			ci := open(t, o)
			want := fmt.Sprintf("%t HUSH %s\n['.venvs']\n", warm != nil, venv)
			res := run(t, ci, "python", code, nil)
			// In bwrap mode there may be none that is ready.
			for i := 0; i < 50 && warm != nil && strings.HasPrefix(res.Stdout(), "false "); i++ {
				res = run(t, ci, "python", code, nil)
			}
			if res.Stdout() != want {
				t.Errorf("%s\nwant %s", summary(res), want)
			}
			about := ci.Describe().Languages[0]
			if o.Sandbox.Mode != subprocess.None && !slices.Contains(about.Roots, filepath.Join(venv, "lib")) || about.Prefix != venv {
				t.Errorf("Describe says %+v", about)
			}
		}
	})
}

// ofRoot makes an environment in a home that is closed to others, with secrets
// beside it, and returns a program that looks for them.
func ofRoot(t *testing.T, home string) (venv, code string) {
	venv = filepath.Join(home, ".venvs", "data")
	if out, err := exec.Command(python(t).Commands[0], "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	site, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages"))
	if err != nil || len(site) != 1 {
		t.Fatal(site, err)
	}
	secrets := []string{filepath.Join(home, "id_rsa"), filepath.Join(home, ".venvs", "id_rsa"), filepath.Join(venv, "id_rsa")}
	for _, path := range append(secrets, filepath.Join(site[0], "kept.py")) {
		if err := os.WriteFile(path, []byte("said = 'HUSH'\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return venv, fmt.Sprintf(`
import os, sys
warm = 'kept' in sys.modules
import kept
print(str(warm).lower(), kept.said, sys.prefix)
for path in ['%s']:
    try: print(path, open(path).read())
    except OSError: pass
try: print(os.listdir(%q))
except OSError: print(['.venvs'])
try: open(%q, 'w'); print('written')
except OSError: pass`, strings.Join(secrets, "', '"), home, filepath.Join(site[0], "made.py"))
}

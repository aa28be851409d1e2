//go:build unix

package subprocess_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestInterpreterInHome: an interpreter in ~/bin runs, and opens nothing else
// of the home.
func TestInterpreterInHome(t *testing.T) {
	home := leftover.Dir(t)
	t.Setenv("HOME", home)
	secret := filepath.Join(home, ".ssh", "id")
	for _, dir := range []string{"bin", ".ssh"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret, []byte("HUSH"), 0o644); err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, o subprocess.Options) {
		if o.Require == subprocess.None {
			t.Skip("none mode opens all files, and says so")
		}
		for _, c := range []struct {
			language      subprocess.Language
			command, code string
		}{
			{subprocess.Bash(), "bash", "cat " + secret + "; echo ran"},
			{subprocess.Python(), "python3", "try: print(open('" + secret + "').read())\nexcept OSError: pass\nprint('ran')"},
			{subprocess.JavaScript(), "node", "try { console.log(require('fs').readFileSync('" + secret + "', 'utf8')) } catch {}\nconsole.log('ran')"},
		} {
			l := c.language
			l.Commands = []string{atHome(t, home, c.command)}
			o.Languages = []subprocess.Language{l}
			ci := open(t, o)
			res := run(t, ci, l.Name, c.code, nil)
			if res.Stdout() != "ran\n" {
				t.Errorf("%s: %s", l.Name, summary(res))
			}
			if roots := ci.Describe().Languages[0].Roots; len(roots) == 0 || roots[0] != l.Commands[0] {
				t.Errorf("%s: Describe tells of roots %q, not of %s", l.Name, roots, l.Commands[0])
			}
		}
	})
}

// atHome returns a copy of the system's command in ~/bin.
func atHome(t *testing.T, home, command string) string {
	t.Helper()
	to := filepath.Join(home, "bin", command)
	if _, err := os.Stat(to); err == nil {
		return to
	}
	from := filepath.Join("/usr/bin", command)
	if _, err := os.Stat(from); err != nil {
		if from, err = exec.LookPath(command); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	r, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

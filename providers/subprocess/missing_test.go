//go:build real && unix

package subprocess_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// offerPackage makes the package mine, and no other, available to installers.
func offerPackage(t *testing.T) {
	t.Helper()
	dir := leftover.Dir(t)
	f, err := os.Create(filepath.Join(dir, "mine-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range map[string]string{
		"mine.py": "word = 'found'\n", "mine-1.0.dist-info/RECORD": "",
		"mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
		"mine-1.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	} {
		p, err := w.Create(name)
		if err == nil {
			_, err = p.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	uv, err := filepath.Abs("../../.testenv/uv/bin")
	if err := errors.Join(w.Close(), f.Close(), err); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"UV_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_FIND_LINKS": dir, "PATH": uv + ":" + os.Getenv("PATH")} {
		t.Setenv(name, value)
	}
}

// TestInstall: a missing module is installed for the program that imports it, and for no
// other, if the policy allows it; the program learns what happened and why not.
func TestInstall(t *testing.T) {
	offerPackage(t)
	root := leftover.Dir(t)
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Install: &subprocess.Install{
		Packages: []string{"Mine"}, Root: root,
		Approve: func(_ context.Context, packages []string) error { return errors.New("the user says no") },
	}})
	for _, tt := range []struct {
		name, code, out, errs string // of standard output, and in standard error and the error
		calls                 int
	}{
		{"import", "import mine\nprint(mine.word)", "found\n", "installed mine==1.0", 1},
		{"line", "%pip install mine\nimport mine\nprint(mine.word)", "found\n", "mine==1.0", 1},
		{"refused", "import nope", "", "nope may not be installed: the user says no", 1},
		{"option", "%pip install --index-url http://x mine", "", "--index-url", 0},
		{"address", "!pip install git+ssh://h/mine", "", "use names with versions", 1},
		{"not for a search", "import importlib.util as u; print(u.find_spec('mine'))", "None\n", "", 0},
	} {
		res := run(t, ci, "python", tt.code, nil)
		printed := res.Stderr()
		if res.Error != nil {
			printed += res.Error.Message
		}
		if res.Stdout() != tt.out || !strings.Contains(printed, tt.errs) || len(res.Calls) != tt.calls {
			t.Errorf("%s: %s\nprinted %q, %d calls", tt.name, summary(res), printed, len(res.Calls))
		}
	}
	n, other := newNotebook(t, ci, "python"), newNotebook(t, ci, "python")
	n.run("import mine", nil)
	if res := n.run("mine.word", nil); res.Text() != "'found'" {
		t.Errorf("the context: %s", summary(res))
	}
	if res := other.run("import sys; 'mine' in sys.modules", nil); res.Text() != "False" {
		t.Errorf("another context: %s", summary(res))
	}
	if notes := ci.Describe().Languages[0].Notes; !strings.Contains(notes, "%pip install NAME: at once mine") {
		t.Errorf("described as %q", notes)
	}
	for _, i := range []subprocess.Install{{}, {Packages: []string{"-e ."}}} {
		if _, err := subprocess.New(&subprocess.Options{Install: &i}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", i, err)
		}
	}
}

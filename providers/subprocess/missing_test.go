//go:build unix

package subprocess_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/aparttest"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestInstall: what a program imports and misses is installed for it and for no
// other, where the policy allows that; it is told what happened and why not.
func TestInstall(t *testing.T) {
	if aparttest.Run(t) {
		return
	}
	root := leftover.Dir(t)
	makeEnvironment(t, root) // or skips
	var asked []string
	options := func(i subprocess.Install) subprocess.Options {
		i.Root = root
		return subprocess.Options{Languages: []subprocess.Language{python(t)}, Install: &i}
	}
	listed := open(t, options(subprocess.Install{Packages: []string{"Six"}}))
	library := fstest.MapFS{"site-packages/lib.py": {Data: []byte("try:\n  import six\nexcept ImportError as e:\n  print(e)\n")}, "own.py": {Data: []byte("import six")}}
	for i, tt := range []struct {
		name, code string
		files      fs.FS
		out, errs  string // of standard output, and somewhere in standard error and the error
		calls      int
	}{
		{"not for a library", "import sys; sys.path.append('site-packages'); import lib", library, "No module named 'six'\n", "", 0},
		{"nor to look for it", "import importlib.util as u; print(u.find_spec('six'))", nil, "None\n", "", 0},
		{"import", "import six\nfrom six import moves\nprint(six.PY3)", nil, "True\n", "installed six==1.17.0", 1},
		{"import of a module beside it", "import own\nprint(1)", library, "1\n", "installed six==1.17.0", 1},
		{"by name", "import importlib\nprint(importlib.import_module('six').PY3)", nil, "True\n", "installed six==1.17.0", 1},
		{"magic", "x = 1\n%pip install -q 'six>=1'\nimport six\nprint(six.PY3)", nil, "True\n", "installed six==1.17.0", 1},
		{"shell", "if 1:\n  ! python -m pip install six\nimport six\nprint(six.PY3)", nil, "True\n", "installed six==1.17.0", 1},
		{"there", "%pip install numpy", nil, "", "numpy 2", 0},
		{"not listed", "try: import nope\nexcept ImportError as e: print(e.name)\nimport nope", nil, "nope\n", "nope may not be installed here; of missing modules these are installed when they are imported, or by a line %pip install NAME: six", 2},
		{"not listed, by its package", "import sklearn", nil, "", "scikit-learn may not be installed here", 1},
		{"option", "%pip install --index-url http://x six", nil, "", "no --index-url", 0},
		{"address", "!pip install git+ssh://h/six", nil, "", "use names with versions", 1},
		{"another magic", "%time 1", nil, "", "%time is IPython syntax", 0},
		{"no package", "import _nope", nil, "", "No module named '_nope'", 0},
	} {
		if !race.Takes(i, 2) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, listed, "python", tt.code, &codeinterp.RunOptions{Files: tt.files})
			printed := res.Stderr()
			if res.Error != nil {
				printed += res.Error.Message
			}
			if res.Stdout() != tt.out || !strings.Contains(printed, tt.errs) || len(res.Calls) != tt.calls {
				t.Errorf("%s\nprinted %q, calls %+v", summary(res), printed, res.Calls)
			}
		})
	}
	if notes := listed.Describe().Languages[0].Notes; !strings.Contains(notes, "%pip install NAME: six") {
		t.Errorf("described as %q", notes)
	}
	t.Run("of a context", func(t *testing.T) {
		asks := open(t, options(subprocess.Install{Approve: func(_ context.Context, packages []string) error {
			asked = append(asked, packages...)
			if packages[0] != "six" {
				return errors.New("the user says no")
			}
			return nil
		}}))
		installInContexts(t, asks)
		if got := strings.Join(asked, " "); got != "six nope" {
			t.Errorf("asked about %s", got)
		}
	})
}

func installInContexts(t *testing.T, ci *subprocess.Stateful) {
	one, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ci.CreateContext(t.Context(), "py", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		in         codeinterp.ContextID
		code, want string
	}{
		{one, "import six", "True "},
		{one, "import six\nprint('still')", "True still"},
		{one, "import nope", "False nope may not be installed: the user says no"},
		{other, "import sys\nprint('six' in sys.modules, len([p for p in sys.path if p.startswith('/') and 'site-packages' in p]))", "True False 1"},
	} {
		res, err := ci.RunInContext(t.Context(), tt.in, tt.code, nil)
		got := strings.TrimSpace(res.Stdout())
		if res.Error != nil {
			got = res.Error.Message
		}
		_, want, _ := strings.Cut(tt.want, " ")
		if err != nil || (res.Status == codeinterp.StatusOK) != strings.HasPrefix(tt.want, "True") || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, %q, %v", tt.code, summary(res), got, err)
		}
	}
}

// TestInstallRefused: a policy has to allow something.
func TestInstallRefused(t *testing.T) {
	for _, i := range []subprocess.Install{{}, {Packages: []string{"-e ."}}, {Packages: []string{"numpy>=2"}}} {
		if _, err := subprocess.New(&subprocess.Options{Install: &i}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("%+v: %v", i, err)
		}
	}
}

//go:build unix && real

package local_test

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace/local"
)

// config makes a directory of templates of these files.
func config(t *testing.T, files map[string]string) {
	t.Helper()
	config := leftover.Dir(t)
	t.Setenv("XDG_CONFIG_HOME", config)
	dir := filepath.Join(config, "toolcell", "templates")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTemplatePackages: the packages of a template are installed once, here from a directory
// of wheels.
func TestTemplatePackages(t *testing.T) {
	l, _ := python(t)
	uv, err := filepath.Abs("../../.testenv/uv/bin")
	if err == nil {
		_, err = os.Stat(filepath.Join(uv, "uv"))
	}
	if err != nil {
		t.Fatal("no .testenv/uv; run make testenv: ", err)
	}
	wheels := leftover.Dir(t)
	wheel(t, wheels)
	for name, value := range map[string]string{"PATH": uv + ":" + os.Getenv("PATH"), "UV_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_FIND_LINKS": wheels, "TOOLCELL_ENVIRONMENTS": leftover.Dir(t)} {
		t.Setenv(name, value)
	}
	config(t, map[string]string{"data.json": `{"languages": ["python"], "python": "` + l.Commands[0] + `", "packages": ["mine==1.0"]}`})
	for range 2 {
		ws, err := local.New("demo", leftover.Dir(t), &local.Options{Template: "data", Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := ws.Code().RunCode(t.Context(), "python", "import mine; mine.word", nil)
		if err != nil || res.Text() != "'found'" {
			t.Errorf("%q, %q, %v", res.Text(), res.Stderr(), err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
		t.Setenv("UV_FIND_LINKS", "") // the environment is there
	}
}

// wheel writes the wheel of a package called mine.
func wheel(t *testing.T, dir string) {
	f, err := os.Create(filepath.Join(dir, "mine-1.0-py3-none-any.whl"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	const info = "mine-1.0.dist-info/"
	for name, text := range map[string]string{"mine.py": "word = 'found'\n", info + "RECORD": "",
		info + "WHEEL":    "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n"} {
		p, err := w.Create(name)
		if err == nil {
			_, err = p.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTemplate: a workspace starts with what its template has, and options win.
func TestTemplate(t *testing.T) {
	l, _ := python(t)
	text := `{
		"languages": ["python", "bash"],
		"python": "` + l.Commands[0] + `",
		"files": {"data/a.txt": "from the template\n", "there.txt": "from the template\n", "seed.py": {"from": "seed.py"}},
		"env": {"MODE": "template", "OTHER": "template"},
		"limits": {"timeout": "3s", "processes": 40},
		"idle": {"pause": "10m"},
		"network": {"allow": ["api.example.com"]},
		"git": true
	}`
	config(t, map[string]string{"minimal.json": text, "seed.py": "x = 5\n", "wrong.json": "{\n\"image\": \"x\"}"})
	o := local.Options{Template: "minimal", Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Env: map[string]string{"MODE": "option"}}}
	wd := leftover.Dir(t)
	if err := os.WriteFile(filepath.Join(wd, "there.txt"), []byte("own\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	ws, err := local.New("demo", wd, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	res, err := ws.Code().RunCode(t.Context(), "python", "import os, seed\nopen('data/a.txt').read(), open('there.txt').read(), seed.x, os.environ['MODE'], os.environ['OTHER']", nil)
	if want := `('from the template\n', 'own\n', 5, 'option', 'template')`; err != nil || res.Text() != want {
		t.Errorf("%q, %q, %v", res.Text(), res.Stderr(), err)
	}
	if page, err := ws.Files().Read(t.Context(), "data/a.txt", files.Range{}); err != nil || page.Text != "from the template\n" {
		t.Errorf("%q, %v", page.Text, err)
	}
	info := codeinterp.Describe(ws.Code())
	if got := strings.Join(ws.Code().Languages(), " "); got != "bash python" || strings.Join(info.Isolation.Hosts, " ") != "api.example.com" {
		t.Errorf("languages %s, hosts %q", got, info.Isolation.Hosts)
	}
	begin := time.Now()
	a := ws.Dispatch(t.Context(), "workspace__demo__run_code", []byte(`{"language":"bash","code":"sleep 100"}`), nil)
	if a.Result == nil || a.Result.Status != codeinterp.StatusTimeout || time.Since(begin) > time.Minute {
		t.Errorf("without a timeout of its own: %s", a.Text)
	}
	if ws.Git() == nil {
		t.Error("there is no git")
	}
	o.Template = "wrong"
	if _, err := local.New("demo", wd, &o); err == nil || !strings.Contains(err.Error(), `unknown key "image"`) {
		t.Error(err)
	}
}

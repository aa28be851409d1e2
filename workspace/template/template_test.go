package template

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/egress"
)

const sample = `{
	"languages": ["python", "bash"],
	"packages": ["pandas", "npm:lodash"],
	"files": {"a/b.txt": "text\n", "helper.py": {"from": "seed.py"}},
	"env": {"MODE": "test"},
	"limits": {"memory": "1G", "disk": "-1", "processes": 64, "timeout": "30s"},
	"network": {"allow": ["api.example.com"]},
	"idle": {"pause": "10m", "context": "1h"},
	"git": true
}`

// TestLoad: a template of a name is read from the user's configuration, with its files.
func TestLoad(t *testing.T) {
	config := t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": config}[name] }
	dir := filepath.Join(config, "toolcell", "templates")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"data.json": sample, "seed.py": "x = 5\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data", filepath.Join(dir, "data.json")} {
		got, err := Load(name, getenv)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := got.Read("helper.py")
		if text, _ := got.Read("a/b.txt"); err != nil || string(seed) != "x = 5\n" || string(text) != "text\n" {
			t.Errorf("%q, %q, %v", seed, text, err)
		}
		want := Limits{Memory: 1 << 30, Disk: -1, Processes: 64, Timeout: Duration(30 * time.Second)}
		if got.Limits != want || got.Idle != (Idle{Duration(10 * time.Minute), Duration(time.Hour)}) || !got.Git || got.Env["MODE"] != "test" {
			t.Errorf("%+v", got)
		}
		if p, err := got.Network.Policy(); err != nil || p.Mode != egress.Hosts || len(p.Rules) != 1 {
			t.Errorf("%+v, %v", p, err)
		}
		python, node := ByLanguage(got.Packages)
		if !reflect.DeepEqual(python, []string{"pandas"}) || !reflect.DeepEqual(node, []string{"lodash"}) {
			t.Errorf("%q, %q", python, node)
		}
	}
	if _, err := Load("none", getenv); err == nil || !strings.Contains(err.Error(), `"none"`) {
		t.Error(err)
	}
}

// TestStrict: what a template does not know is an error that names it.
func TestStrict(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"package\": []\n}":                             `unknown key "package"`,
		"{\n\"limits\": {\n\"memori\": \"1G\"}\n}":          `unknown key "memori"`,
		"{\n\"git\": 5\n}":                                  "git cannot be the JSON number",
		"{\n\"git\": true,\n}":                              "line 3: ",
		"{\n\"environment\": \"e\", \"packages\": [\"p\"]}": "an environment goes without",
		"{}\n{}":                                      "something follows",
		"{\n\"limits\": {\"memory\": \"much\"}}":      "\"much\": use a size",
		"{\n\"limits\": {\"timeout\": \"-1s\"}}":      "\"-1s\": use a duration",
		"{\n\n\"files\": {\"../x\": \"\"}}":           `the file "../x"`,
		"{\"files\": {\"x\": {\"form\": \"y\"}}}":     "a file is a text or",
		"{\n\"network\": {\"allow\": [\"http://\"]}}": "network: ",
		"{\n\"network\": {\"mode\": \"some\"}}":       "some",
	} {
		if got, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := Parse([]byte("{}")); err != nil {
		t.Error(err)
	}
}

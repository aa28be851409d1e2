package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProviderIsChosen: the language and the flags decide, then the environment and the configuration.
func TestProviderIsChosen(t *testing.T) {
	config := t.TempDir()
	if err := os.MkdirAll(filepath.Join(config, "toolcell"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file, args, env, config, want string // want: the provider, and the language after a space
	}{
		{"", "-e 1", "", "", "inmemory"},
		{"a.js", "", "", "", "inmemory"},
		{"a.ts", "", "", "", "inmemory"},
		{"a.tsx", "", "", "", "inmemory"},
		{"plot.py", "", "", "", "subprocess"},
		{"x.sh", "", "", "", "subprocess"},
		{"", "--language python -e 1", "", "", "subprocess"},
		{"", "--dir . -e 1", "", "", "subprocess"},
		{"", "--memory 1G -e 1", "", "", "subprocess"},
		{"", "--with pandas -e 1", "", "", "subprocess"},
		{"a.py", "--url http://h/", "", "", "jupyter"},
		{"", "-e 1", "subprocess", "", "subprocess"},
		{"a.py", "", "inmemory", "", "inmemory"},
		{"", "-e 1", "", `{"provider": "subprocess"}`, "subprocess"},
		{"", "-e 1", "inmemory", `{"provider": "subprocess", "memory": "1G", "with": ["six"], "http": ":1"}`, "inmemory"},
		{"", "-e 1", "", "", "inmemory javascript"},
		{"", "--dir . -e 1", "", "", "subprocess javascript"},
		{"", "--net host --memory 1G --read . --isolation landlock -e 1", "", "", "subprocess javascript"},
		{"", "--provider subprocess -e 1", "", "", "subprocess javascript"},
		{"", "--with npm:lodash -e 1", "", "", "subprocess javascript"},
		{"", "--with npm:lodash --with six -e 1", "", "", "subprocess javascript"},
		{"", "--with npm:lodash --language python -e 1", "", "", "subprocess python"},
		{"", "--with six -e 1", "", "", "subprocess python"},
		{"", "--python python3 -e 1", "", "", "subprocess python"},
		{"", "-e 1", "subprocess", "", "subprocess javascript"},
		{"a.sh", "--with six", "", "", "subprocess bash"},
		{"", "--url http://h/ -e 1", "", "", "jupyter "},
		{"", "-e 1", "", `{"memory": "much"}`, "error: memory"},
		{"", "-e 1", "", `{`, "error: config.json"},
	} {
		file := filepath.Join(config, "toolcell", "config.json")
		if tt.config == "" {
			_ = os.Remove(file)
		} else if err := os.WriteFile(file, []byte(tt.config), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"TOOLCELL_PROVIDER": tt.env, "XDG_CONFIG_HOME": config}
		a := &app{getenv: func(name string) string { return env[name] }}
		f := &runFlags{}
		fs := a.command("run", "", f.registerAll, nil).Flags()
		if err := fs.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := f.settle(fs, tt.file, ""); err != nil {
			got = "error: " + err.Error()
		} else {
			got = f.provider
			if strings.Contains(tt.want, " ") {
				got += " " + f.language
			}
		}
		if want, isError := strings.CutPrefix(tt.want, "error: "); got != tt.want && !(isError && strings.Contains(got, want)) {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestInstalling: an installation is announced, on a terminal or not, unless the packages are found at once.
func TestInstalling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for wait, want := range map[time.Duration]string{findLimit / 2: "", 2 * findLimit: "toolcell: installing pandas, six ...\n"} {
			var b bytes.Buffer
			done := after(findLimit, (&app{stderr: &b}).progress, "installing %s ...", "pandas, six")
			time.Sleep(wait)
			if done(); b.String() != want {
				t.Errorf("%v: %q", wait, &b)
			}
		}
	})
}

//go:build real && unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestEnvironments: made by name, used, listed, removed; and made on the fly, whatever the
// umask is.
func TestEnvironments(t *testing.T) {
	env, err := filepath.Abs("../../.testenv")
	base, uv := filepath.Join(env, "python/bin/python"), filepath.Join(env, "uv/bin")
	if err == nil {
		_, err = os.Stat(base)
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(uv, "uv"))
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no .testenv/python or .testenv/uv; run make testenv")
		}
		t.Skip("no .testenv/python or .testenv/uv; run make testenv")
	}
	index := scripts(t, map[string]string{"six-1.17.0-py3-none-any.whl": wheel(t, "six", "1.17.0", "__version__ = '1.17.0'\n")})
	for name, value := range map[string]string{"PATH": uv + ":" + os.Getenv("PATH"), "UV_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_FIND_LINKS": index} {
		t.Setenv(name, value)
	}
	root := scripts(t, map[string]string{"needs.txt": "six==1.17.0\n", "locked.txt": "six==1.17.0\n", "unlocked.txt": "six\n"})
	defer syscall.Umask(syscall.Umask(0o077))
	do := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(name string) string {
			if name == "TOOLCELL_ENVIRONMENTS" {
				return filepath.Join(root, "environments")
			}
			return ""
		}}
		code := a.main(t.Context(), args)
		return code, out.String(), errs.String()
	}
	if code, _, stderr := do("env", "create", "data", "six==1.17.0", "--python", base); code != 0 {
		t.Fatal(stderr)
	}
	program := "import six; print(six.__version__)"
	for _, tt := range []struct {
		args   []string
		code   int
		stdout string
		stderr string // a part of it
	}{
		{[]string{"env", "list"}, 0, "data  six==1.17.0\n", ""},
		{[]string{"env", "create", "same", "--requirements", filepath.Join(root, "needs.txt"), "--python", base}, 0, "same  six==1.17.0\n", ""},
		{[]string{"env", "lock", "data"}, 0, "six==1.17.0\n", ""},
		{[]string{"env", "create", "exact", "--lock", filepath.Join(root, "locked.txt"), "--python", base}, 0, "exact  six==1.17.0\n", ""},
		{[]string{"run", "--env-name", "exact", "-e", program}, 0, "1.17.0\n", ""},
		{[]string{"env", "remove", "exact"}, 0, "", ""},
		{[]string{"env", "create", "x", "--lock", filepath.Join(root, "unlocked.txt"), "--python", base}, 2, "", "such as six==1.17.0"},
		{[]string{"run", "--env-name", "data", "-e", program}, 0, "1.17.0\n", ""},
		{[]string{"run", "--with", "six==1.17.0", "--python", base, "-e", program}, 0, "1.17.0\n", ""},
		{[]string{"env", "remove", "data"}, 0, "", ""},
		{[]string{"run", "--env-name", "same", "-e", program}, 0, "1.17.0\n", ""},
		{[]string{"run", "--env-name", "data", "-e", program}, 1, "", `there is no environment "data"; see toolcell env list, or make it: toolcell env create data PACKAGE`},
		{[]string{"run", "--env-name", "same", "--with", "six", "-e", program}, 2, "", "--env-name goes without"},
		{[]string{"env", "create", "../x", "six"}, 2, "", "environment name"},
		{[]string{"env", "remove", "data"}, 1, "", `there is no environment "data"; see toolcell env list`},
		{[]string{"env", "sweep"}, 0, "removed 0; ", ""},
		{[]string{"run", "--env-name", "same", "-e", program}, 0, "1.17.0\n", ""},
		{[]string{"env", "remove", "same"}, 0, "", ""},
		{[]string{"env", "list"}, 0, "", ""},
	} {
		if code, stdout, stderr := do(tt.args...); code != tt.code || stdout != tt.stdout && !(strings.HasPrefix(tt.stdout, "removed") && strings.HasPrefix(stdout, tt.stdout)) || !strings.Contains(stderr, tt.stderr) {
			t.Errorf("%q: code %d, stdout %q, stderr %q; want %d, %q, ...%q...", tt.args, code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
		}
	}
}

// wheel is a wheel of a package with one module.
func wheel(t *testing.T, name, version, module string) string {
	t.Helper()
	var b strings.Builder
	z, info := zip.NewWriter(&b), name+"-"+version+".dist-info/"
	for file, text := range map[string]string{name + ".py": module, info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n", info + "RECORD": ""} {
		w, err := z.Create(file)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEnvironmentStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	a := &app{stdout: io.Discard, stderr: &stderr, getenv: func(string) string { return t.TempDir() }}
	if code := a.main(ctx, []string{"env", "create", "x", "six"}); code == 0 {
		t.Errorf("made nevertheless: %s", stderr.String())
	}
}

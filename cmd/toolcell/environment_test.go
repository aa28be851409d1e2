//go:build real && unix

package main

import (
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
	base, err := filepath.Abs("../../.testenv/python/bin/python")
	if err == nil {
		_, err = os.Stat(base)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no .testenv/python; run make testenv")
		}
		t.Skip("no .testenv/python; run make testenv")
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
		if os.Getenv("CI") != "" {
			t.Fatal(stderr)
		}
		t.Skip("no environment can be made here: ", strings.Join(strings.Fields(stderr), " "))
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

func TestEnvironmentStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	a := &app{stdout: io.Discard, stderr: &stderr, getenv: func(string) string { return t.TempDir() }}
	if code := a.main(ctx, []string{"env", "create", "x", "six"}); code == 0 {
		t.Errorf("made nevertheless: %s", stderr.String())
	}
}

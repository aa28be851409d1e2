package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"300": 300, "64K": 64 << 10, "512m": 512 << 20, "2GiB": 2 << 30, "1TB": 1 << 40, "-1": -1,
		"": 0, "0": 0, "-2": 0, "-1K": 0, "x": 0, "1.5G": 0, "99999999T": 0} {
		var s int64
		if err := bytesIn(&s)(text); s != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v; want %d", text, s, err, want)
		}
	}
}

func jupyterOptionsOf(t *testing.T, args ...string) *jupyterFlags {
	t.Helper()
	var f jupyterFlags
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	f.register(fs, func(string) string { return "" })
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

func TestJupyterFlags(t *testing.T) {
	f := jupyterOptionsOf(t, "--url", "http://h/", "--kernel", "conda-ml", "--kernel", "r=ir")
	o, err := f.options("")
	if err != nil || o.Kernels["python"] != "conda-ml" || o.Kernels["r"] != "ir" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := f.options("julia"); err != nil || o.Kernels["julia"] != "conda-ml" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := jupyterOptionsOf(t).options(""); err == nil {
		t.Error("no --url was accepted")
	}
}

// TestJupyterRefusals: what is asked for in vain is said by its name, without the
// token.
func TestJupyterRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"doctor --url 127.0.0.1:8888/?token=secret --provider jupyter": "--url 127.0.0.1:8888/ has no http:// or https:// in front",
		"run -e 1 --url localhost:8888":                                "--url localhost:8888 has no http://",
		"run -e 1 --url ftp://me:secret@h/?token=secret":               `"h/", and must be like http://`,
		"run -e 1 --url http://127.0.0.1:999999 --token secret":        "invalid port",
	} {
		code, _, stderr := toolcell(t.Context(), "", strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: code %d, %q, want %q", args, code, stderr, want)
		}
	}
}

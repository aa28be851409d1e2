package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLine(t *testing.T) {
	found := parse(`goos: linux
BenchmarkCold/landlock-2   	     150	         2.00 x-floor	     18250 p50-µs
BenchmarkDispatch/bare-2   	  100	      1000 ns/op	       0 B/op
BenchmarkDispatch/text-2   	  100	      5500 ns/op	       0 B/op
PASS
`)
	for _, tt := range []struct {
		row  row
		want string
	}{
		{row{what: "a", floor: "b", benchmark: "Cold/landlock", metric: "x-floor", most: 1.1, unit: "x"}, "a|2 x|1.1 x|MISSED|b"},
		{row{what: "a", benchmark: "Cold/landlock", metric: "p50-µs", unit: "ms", scale: 1e-3}, "a|18.2 ms|||"},
		{row{what: "a", benchmark: "Dispatch/text", metric: "ns/op", most: 6, unit: "µs", scale: 1e-3, less: "Dispatch/bare"}, "a|4.5 µs|6 µs|holds|"},
		{row{what: "a", benchmark: "Warm", metric: "x-floor", unit: "x"}, "a|-||not measured|"},
	} {
		if got := strings.ReplaceAll(tt.row.line(found), "\t", "|"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestBenchmarksExist wants each row's benchmark to be one of its package's.
func TestBenchmarksExist(t *testing.T) {
	for _, g := range groups {
		files, err := filepath.Glob(filepath.Join("..", "..", g.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source []byte
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, b...)
		}
		top, _, _ := strings.Cut(g.bench, "/")
		for _, r := range g.rows {
			name, _, _ := strings.Cut("Benchmark"+r.benchmark, "/")
			if !bytes.Contains(source, []byte("func "+name+"(")) || !regexp.MustCompile(top).MatchString(name) {
				t.Errorf("%s has no benchmark %s that %s takes", g.pkg, name, g.bench)
			}
		}
	}
}

// Package aparttest has tests run in processes of their own, beside the others:
// conformance suites, which count what their process has, and wait most of the
// time.
package aparttest

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// places are for the processes that run at once. They take turns in what memory
// and processors there are, with the tests of their parent.
var places = make(chan struct{}, 3)

// variable names the test that a process was started for.
const variable = "TOOLCELL_TEST_APART"

// Run starts a process for the test, and fails or is skipped as it does there,
// where Run reports false. The process starts when one of few has ended, beside
// tests that come one after the other: those that are merely parallel wait for
// the end of these. Call it first, in a test and not in a part of one.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		return false
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v=true", "-test.timeout=40m", short())
	cmd.Dir, cmd.Env = dir, append(os.Environ(), variable+"="+t.Name()) // as they are now; a test may change them
	var out []byte
	done := make(chan error, 1)
	go func() {
		places <- struct{}{}
		defer func() { <-places }()
		var err error
		out, err = cmd.CombinedOutput()
		done <- err
	}()
	t.Parallel()
	if err := <-done; err != nil {
		t.Errorf("%v\n%s", err, Failed(out))
	}
	whole, parts := skips(out)
	for _, line := range words(out, t.Name()) {
		t.Log(line)
	}
	for _, why := range parts {
		t.Logf("skipped: %s", why)
	}
	if whole != "" {
		t.Skip(whole)
	}
	return true
}

// short is the flag that has a process try as much as this one does.
func short() string { return "-test.short=" + strconv.FormatBool(testing.Short()) }

// Apart reports whether this is a process that was started for one test.
func Apart() bool { return os.Getenv(variable) != "" }

// Failed returns what a run of tests printed about those that failed.
func Failed(out []byte) []byte { return passed.ReplaceAll(out, nil) }

var (
	passed = regexp.MustCompile(`(?m)^\s*(=== |--- (PASS|SKIP)).*\n`)
	began  = regexp.MustCompile(`^=== (?:RUN|NAME|CONT) +(\S+)`)
	said   = regexp.MustCompile(`^ +\S+\.go:\d+: (.*)`)
	skip   = regexp.MustCompile(`^( *)--- SKIP: (\S+) `)
)

// skips returns why the whole of a test was skipped, if it was, and why parts of
// it were, each reason once.
func skips(out []byte) (whole string, parts []string) {
	last, name := map[string]string{}, "" // what each test said last
	for line := range strings.Lines(string(out)) {
		if m := began.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := said.FindStringSubmatch(line); m != nil {
			last[name] = m[1]
		} else if m := skip.FindStringSubmatch(line); m != nil {
			switch why := last[m[2]]; {
			case m[1] == "":
				whole = why
			case !slices.Contains(parts, why):
				parts = append(parts, why)
			}
		}
	}
	return whole, parts
}

// words returns what the test itself said, without its parts, where it passed.
func words(out []byte, test string) (lines []string) {
	name := ""
	for line := range strings.Lines(string(out)) {
		if m := began.FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if m := said.FindStringSubmatch(line); m != nil && name == test {
			lines = append(lines, m[1])
		}
		if strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "--- PASS") {
			return nil
		}
	}
	return lines
}

// Beside lets so many parallel tests run at once, however few processors there
// are, for tests that mostly wait. Call it in TestMain.
func Beside(n int) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
}

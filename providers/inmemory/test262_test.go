package inmemory_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
)

var (
	suite262 = flag.String("test262", "", "directory of a checkout of test262 to run")
	only262  = flag.String("test262only", "language,built-ins,annexB", "folders below its folder test, with commas between them")
)

// lacking are the features of test262 that the engine does not claim.
var lacking = []string{"arbitrary-module-namespace-names", "Atomics.waitAsync", "await-dictionary", "canonical-tz", "decorators",
	"explicit-resource-management", "immutable-arraybuffer", "import-bytes", "import-defer", "import-text", "joint-iteration", "legacy-regexp",
	"nonextensible-applies-to-private", "ShadowRealm", "source-phase-imports-module-source", "source-phase-imports", "tail-call-optimization",
	"Temporal", "iterator-chunking", "iterator-includes", "error-stack-accessor", "Iterator.prototype.join"}

// A case262 is a file of test262 that can be run as a program.
type case262 struct {
	path, code string
	flags      []string
	includes   []string
	negative   string // the error that it has to end with
}

var (
	front262    = regexp.MustCompile(`(?s)/\*---(.*?)---\*/`)
	entry262    = regexp.MustCompile(`(?m)^(\w+):[ \t]*(.*(?:\n[ \t]+.*)*)`)
	negative262 = regexp.MustCompile(`type:\s*(\w+)`)
)

// read262 reads a test. ok is false for one that is not run here: a module, one
// of a feature that is lacking, or one that needs more of its host than a
// program has.
func read262(path string) (c case262, ok bool, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return c, false, err
	}
	c = case262{path: path, code: string(b)}
	m := front262.FindStringSubmatch(strings.ReplaceAll(c.code, "\r\n", "\n"))
	if m == nil {
		return c, false, nil
	}
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[], \t\n", r) })
	}
	var features []string
	for _, e := range entry262.FindAllStringSubmatch(m[1], -1) {
		switch e[1] {
		case "flags":
			c.flags = words(e[2])
		case "includes":
			c.includes = words(e[2])
		case "features":
			features = words(e[2])
		case "negative":
			c.negative = negative262.FindStringSubmatch(e[2])[1]
		}
	}
	for _, f := range features {
		if slices.Contains(lacking, f) || strings.HasPrefix(f, "Intl") || f == "dynamic-import" {
			return c, false, nil
		}
	}
	for _, f := range c.flags {
		if f == "module" || f == "raw" || strings.HasPrefix(f, "CanBlock") {
			return c, false, nil
		}
	}
	return c, !strings.Contains(strings.ReplaceAll(c.code, "$262.detachArrayBuffer", ""), "$262") && !slices.Contains(c.includes, "atomicsHelper.js") && !strings.ContainsRune(c.code, 0), nil
}

// run runs the test in a context of its own, the harness first. It returns what
// was wrong.
func (c *case262) run(t *testing.T, s *inmemory.Stateful, harness func(string) string) string {
	id, err := s.CreateContext(t.Context(), "javascript", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.DeleteContext(t.Context(), id) }()
	eval := func(code string) codeinterp.Result {
		res, err := s.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	includes := append([]string{"assert.js", "sta.js"}, c.includes...)
	async := slices.Contains(c.flags, "async")
	if async {
		includes = append(includes, "doneprintHandle.js")
	}
	code := "var print = console.log, $262 = { detachArrayBuffer: (b) => { b.transfer(0) } };" +
		"process.on('unhandledRejection', () => {});" // they end a program, but no test
	for _, name := range includes {
		code += "\n" + harness(name)
	}
	if res := eval(code); !res.OK() {
		return "harness: " + res.Error.Error()
	}
	code = c.code
	if slices.Contains(c.flags, "onlyStrict") {
		code = "\"use strict\";\n" + code
	}
	res := eval(code)
	switch {
	case c.negative != "":
		if res.Error == nil || res.Error.Name != c.negative {
			return fmt.Sprintf("ended with %v, want %s", res.Error, c.negative)
		}
	case !res.OK():
		return fmt.Sprintf("%s %v", res.Status, res.Error)
	case async && !strings.Contains(res.Stdout(), "Test262:AsyncTestComplete"):
		return "printed " + res.Stdout()
	}
	return ""
}

// TestTest262 runs test262, the language's own conformance suite, through the
// provider: go test -run Test262 -args -test262 DIR.
func TestTest262(t *testing.T) {
	if *suite262 == "" {
		t.Skip("no checkout of test262 is given by -test262")
	}
	s, err := inmemory.NewStateful(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	harness := sync.OnceValue(func() map[string]string {
		files := map[string]string{}
		list, _ := filepath.Glob(filepath.Join(*suite262, "harness", "*.js"))
		for _, f := range list {
			b, _ := os.ReadFile(f)
			files[filepath.Base(f)] = string(b)
		}
		return files
	})
	ran, skipped, failed := 0, 0, 0
	for folder := range strings.SplitSeq(*only262, ",") {
		err := filepath.WalkDir(filepath.Join(*suite262, "test", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".js") || strings.HasSuffix(path, "_FIXTURE.js") {
				return err
			}
			c, ok, err := read262(path)
			if err != nil || !ok {
				skipped++
				return err
			}
			ran++
			if fault := c.run(t, s, func(name string) string { return harness()[name] }); fault != "" {
				failed++
				rel, _ := filepath.Rel(*suite262, path)
				t.Logf("%s: %.300s", rel, fault)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d tests run, %d failed, %d skipped", ran, failed, skipped)
	if ran == 0 || failed*200 > ran {
		t.Errorf("%d of %d failed; at most 0.5 %% are known to", failed, ran)
	}
}

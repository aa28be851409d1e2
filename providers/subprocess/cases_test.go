//go:build unix && real

package subprocess_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

var languageOf = map[string]string{".py": "python", ".js": "javascript", ".sh": "bash"}

// TestCases runs the programs of testdata/cases and compares what they give with
// want.txt, in which * stands for any text of a line. The files run1, run2 and so on
// of a folder run in one context, prog by itself, in a warm process too.
func TestCases(t *testing.T) {
	o := subprocess.Options{Languages: []subprocess.Language{subprocess.Bash(), subprocess.JavaScript(), subprocess.Python()}, Grace: time.Minute}
	ci := open(t, o)
	o.Languages, o.Warm = o.Languages[2:], &subprocess.Warm{}
	warm := open(t, o)
	folders, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(folders) == 0 {
		t.Fatal(len(folders), err)
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			check := func(got string) {
				if !matches(got, string(want)) {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			}
			if list, _ := filepath.Glob(filepath.Join(dir, "prog.*")); len(list) > 0 {
				for _, ci := range []*subprocess.Stateful{ci, warm} {
					if language := languageOf[path.Ext(list[0])]; language == "python" || ci != warm {
						check("run 1: " + rendered(run(t, ci, language, program(t, list[0]), nil)))
					}
				}
				return
			}
			check(inContext(t, ci, dir))
		})
	}
}

func program(t *testing.T, file string) string {
	t.Helper()
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}

// inContext renders what the runs of a folder give in one context.
func inContext(t *testing.T, ci *subprocess.Stateful, dir string) string {
	var got strings.Builder
	var n *notebook
	for i := 1; ; i++ {
		list, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("run%d.*", i)))
		if len(list) == 0 {
			return got.String()
		}
		if n == nil {
			n = newNotebook(t, ci, languageOf[path.Ext(list[0])])
		}
		code, limit := program(t, list[0]), time.Minute
		if strings.HasPrefix(code, "sleep 30") {
			limit = time.Second
		}
		fmt.Fprintf(&got, "run %d: %s", i, rendered(n.run(code, &codeinterp.RunOptions{Timeout: limit})))
	}
}

// rendered is how want.txt shows a result.
func rendered(res codeinterp.Result) string {
	var b strings.Builder
	b.WriteString(string(res.Status))
	if res.ExitCode != 0 {
		fmt.Fprintf(&b, " %d", res.ExitCode)
	}
	if res.StateLost {
		b.WriteString(" lost")
	}
	b.WriteString("\n")
	texts := map[codeinterp.Kind]string{}
	for _, o := range res.Outputs {
		if o.Kind == codeinterp.Stdout || o.Kind == codeinterp.Stderr {
			texts[o.Kind] += string(o.Data)
		}
	}
	for _, kind := range []codeinterp.Kind{codeinterp.Stdout, codeinterp.Stderr} {
		for line := range strings.Lines(texts[kind]) {
			fmt.Fprintf(&b, "%s: %s\n", kind, strings.TrimRight(line, "\n"))
		}
	}
	for _, o := range res.Outputs {
		if o.Kind == codeinterp.Display || o.Kind == codeinterp.Value {
			fmt.Fprintf(&b, "%s\n", bundled(o))
		}
	}
	if res.Error != nil && !strings.Contains(res.Error.Name, "ZeroDivision") {
		fmt.Fprintf(&b, "error: %s: %s\n", res.Error.Name, res.Error.Message)
	}
	return b.String()
}

// bundled renders a display or a value: its types, and its JSON where it has one.
func bundled(o codeinterp.Output) string {
	s := o.Kind.String() + ":"
	if o.Kind == codeinterp.Display && len(o.Bundle) == 1 {
		return s + " " + string(o.Bundle[0].Data)
	}
	var types []string
	for _, r := range o.Bundle {
		types = append(types, r.MIME)
	}
	slices.Sort(types)
	s += " " + strings.Join(types, " ")
	if len(o.Value) > 0 {
		s += " " + string(o.Value)
	}
	return s
}

// matches compares texts; a * of want stands for any text of a line.
func matches(got, want string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, `.*`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}

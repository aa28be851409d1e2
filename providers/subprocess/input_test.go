//go:build real && unix

package subprocess_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// askers ask twice, the second time only when the first answer is there.
var askers = map[string]string{
	"python":     "print('first?')\na = input()\nprint('second?')\nb = input()\nimport sys\nprint(a + b, repr(sys.stdin.read()))",
	"bash":       "echo 'first?'; read a; echo 'second?'; read b; rest=$(cat); echo \"$a$b '$rest'\"",
	"javascript": "let all = ''; console.log('first?'); process.stdin.on('data', (d) => { all += d; if (all === 'one\\n') console.log('second?'); }).on('end', () => console.log(all.replaceAll('\\n', '') + \" ''\")); undefined",
}

// TestInput: what is written to Input reaches a program while it runs, to its
// end, in single runs and in contexts, and the reader is closed after it.
func TestInput(t *testing.T) {
	inModes(t, func(t *testing.T, o subprocess.Options) {
		ci := open(t, o)
		for language, program := range askers {
			if _, err := codeinterp.ResolveLanguage(language, ci.Languages()); err != nil {
				continue
			}
			id, err := ci.CreateContext(t.Context(), language, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, run := range map[string]func(*codeinterp.RunOptions) (codeinterp.Result, error){
				"once": func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
					return ci.RunCode(t.Context(), language, program, o)
				},
				"context": func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
					return ci.RunInContext(t.Context(), id, program, o)
				},
				"again": func(o *codeinterp.RunOptions) (codeinterp.Result, error) {
					return ci.RunInContext(t.Context(), id, program, o)
				},
			} {
				r, w := io.Pipe()
				res, err := run(&codeinterp.RunOptions{Timeout: time.Minute, Input: r, OnOutput: func(out codeinterp.Output) error {
					switch string(out.Data) {
					case "first?\n":
						io.WriteString(w, "one\n")
					case "second?\n":
						io.WriteString(w, "two\n")
						w.Close()
					}
					return nil
				}})
				if want := "first?\nsecond?\nonetwo ''\n"; err != nil || res.Stdout() != want {
					t.Errorf("%s, %s: %s, %v", language, name, summary(res), err)
				}
				if _, err := w.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("%s, %s: Input is open: %v", language, name, err)
				}
			}
			if res, err := ci.RunInContext(t.Context(), id, program, &codeinterp.RunOptions{Stdin: []byte("one\ntwo\n")}); err != nil || !strings.Contains(res.Stdout(), "onetwo") {
				t.Errorf("%s: Stdin after Input: %s, %v", language, summary(res), err)
			}
		}
	})
}

// blocks is input that never comes.
type blocks struct{ done chan struct{} }

func (b blocks) Read([]byte) (int, error) { <-b.done; return 0, io.EOF }

// TestInputThatBlocks holds up neither the end of a program that does not read
// it, nor a timeout, nor the next run, and leaves no file behind.
func TestInputThatBlocks(t *testing.T) {
	b := blocks{make(chan struct{})}
	defer close(b.done)
	ci := open(t, subprocess.Options{Languages: []subprocess.Language{python(t)}, Grace: time.Minute})
	id, err := ci.CreateContext(t.Context(), "python", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		code string
		want codeinterp.Status
	}{{"x = 1", codeinterp.StatusOK}, {"input()", codeinterp.StatusTimeout}, {"f(", codeinterp.StatusError}, {"x", codeinterp.StatusOK}} {
		o := &codeinterp.RunOptions{Input: b, Timeout: time.Minute}
		if tt.want == codeinterp.StatusTimeout {
			o.Timeout = 100 * time.Millisecond
		}
		if res, err := ci.RunInContext(t.Context(), id, tt.code, o); err != nil || res.Status != tt.want || res.StateLost {
			t.Errorf("%s: %s, %v", tt.code, summary(res), err)
		}
	}
	res, err := ci.RunInContext(t.Context(), id, "import os\nprint(os.listdir('.'))\ninput()", nil)
	if err != nil || res.Stdout() != "[]\n" || res.Error == nil || res.Error.Name != "EOFError" {
		t.Errorf("a run without input after them: %s, %v", summary(res), err)
	}
	both := &codeinterp.RunOptions{Input: os.Stdin, Stdin: []byte{}}
	if _, err := ci.RunCode(t.Context(), "python", "", both); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("both Stdin and Input: %v", err)
	}
}

//go:build real && unix

package subprocess_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// driversFrames is what a program's output shows of the driver.
var driversFrames = regexp.MustCompile(`\[eval\]|node:inspector|node:vm|toolcell`)

// TestNodeFrames: errors that a program prints itself have its own frames, with
// their lines, and none of the driver's.
func TestNodeFrames(t *testing.T) {
	ci := open(t, subprocess.Options{})
	n := newNotebook(t, ci, "javascript")
	const load = "function load(x) { return x.items.length }\n"
	for code, want := range map[string]string{
		load + "try { load({}) } catch (e) { console.error('failed:', e) }": `at load \(cell-\d+:1:35\)\n    at cell-\d+:2:7\n$`,
		load + "try { load({}) } catch (e) { console.log(e.stack) }":        `^TypeError: Cannot read .*\n    at load \(cell-\d+:1:35\)\n    at cell-\d+:2:7\n$`,
		"console.trace('tr')": `^Trace: tr\n    at cell-\d+:1:9\n$`,
		"try { Buffer.alloc('x') } catch (e) { console.log(e.stack) }": `^TypeError \[ERR_INVALID_ARG_TYPE\]: `,
	} {
		for i, res := range []string{printed(run(t, ci, "javascript", code, nil)), printed(n.run(code, nil))} {
			if !regexp.MustCompile(want).MatchString(res) || driversFrames.MatchString(res) {
				t.Errorf("%d: %s: %s", i, code, res)
			}
		}
	}
	res := run(t, ci, "javascript", load+"load({})", nil)
	if res.Error == nil || res.Error.Line != 1 || len(res.Error.Traceback) != 3 {
		t.Errorf("%+v", res.Error)
	}
}

// TestPythonFrames: errors have the program's frames and python's, and so have those
// that they came of or hold.
func TestPythonFrames(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{}), "python")
	for code, want := range map[string]string{
		"tools.echo(1)": "1",
		"try: tools.echo(1)\nexcept TypeError: raise ValueError('x')":                                     "1 2",
		"try: tools.echo(1)\nexcept TypeError as e: raise ValueError('x') from e":                         "1 2",
		"def f():\n  tools.echo(1)\ntry: f()\nexcept TypeError as e: raise RuntimeError('g', [e]) from e": "3 2 4",
		"await tools.aio.echo(1)": "1",
	} {
		res := n.run(code, &codeinterp.RunOptions{Functions: hostFunctions(t)})
		text, got := "", []string{}
		if res.Error != nil {
			text = strings.Join(res.Error.Traceback, "\n")
		}
		for _, m := range regexp.MustCompile(`File "<?cell[^"]*", line (\d+)`).FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want || driversFrames.MatchString(text) {
			t.Errorf("%s: frames %q, want %s: %s", code, got, want, text)
		}
	}
}

func printed(res codeinterp.Result) string { return res.Stdout() + res.Stderr() }

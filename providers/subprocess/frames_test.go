//go:build real && unix

package subprocess_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
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
		load + "try { load({}) } catch (e) { console.error('failed:', e) }":                            `at load \(cell-\d+:1:35\)\n    at cell-\d+:2:7\n$`,
		load + "try { load({}) } catch (e) { console.log(e.stack) }":                                   `^TypeError: Cannot read .*\n    at load \(cell-\d+:1:35\)\n    at cell-\d+:2:7\n$`,
		"console.log(await Promise.allSettled([1].map(async (i) => { throw new Error('bad ' + i) })))": `bad 1`,
		"console.trace('tr')": `^Trace: tr\n    at cell-\d+:1:9\n$`,
		"console.log({ e: new Error('outer', { cause: new RangeError('inner') }) })":                                                                                                                                 `outer(?s:.*)inner`,
		"await new Promise((done) => setTimeout(() => { try { null.x } catch (e) { console.log(e.stack) } done() }, 5))":                                                                                             `_onTimeout.*cell-|at .*cell-\d+:1:\d+`,
		"try { Buffer.alloc('x') } catch (e) { console.log(e.stack) }":                                                                                                                                               `^TypeError \[ERR_INVALID_ARG_TYPE\]: `,
		"class E extends Error { get name() { return 'Own' } }\nconsole.log(new E('m').stack)":                                                                                                                       `^(Own|Error): m\n    at cell-`,
		"const o = {}; Error.captureStackTrace(o); console.log(o.stack)":                                                                                                                                             `at cell-\d+:1:\d+\n$`,
		"Error.stackTraceLimit = 1; function a() { return new Error('x') }\nconsole.log(a().stack); Error.stackTraceLimit = 10":                                                                                      `^Error: x\n    at a \(cell-\d+:1:\d+\)\n$`,
		"const old = Error.prepareStackTrace; Error.prepareStackTrace = (e, sites) => sites[0].getLineNumber()\nconsole.log(new Error('x').stack)\nError.prepareStackTrace = old\nconsole.log(new Error('y').stack)": `^2\nError: y\n    at cell-\d+:4:\d+\n$`,
		"Error.prepareStackTrace = () => 'mine'\nconsole.log(new Error('x').stack)\nError.prepareStackTrace = undefined\nconsole.log(new Error('y').stack)":                                                          `^mine\nError: y\n    at cell-\d+:4:\d+\n$`,
	} {
		for i, res := range []string{printed(run(t, ci, "javascript", code, nil)), printed(n.run(code, nil))} {
			if !regexp.MustCompile(want).MatchString(res) || driversFrames.MatchString(res) {
				t.Errorf("%d: %s: %s", i, code, res)
			}
		}
	}
	res := run(t, ci, "javascript", "process.on('exit', () => null.x); process.exit(1)", nil)
	if s := printed(res); !strings.Contains(s, "Uncaught TypeError") || driversFrames.MatchString(s) {
		t.Error(s)
	}
	for _, code := range []string{"function last() { process.abort() }\nlast()", "function last() { process.abort() }\nsetTimeout(() => last(), 1)"} {
		res = run(t, ci, "javascript", code, nil)
		if s := printed(res); res.ExitCode != 134 || !regexp.MustCompile(`at last \(cell-\d+:1:27\)`).MatchString(s) || driversFrames.MatchString(s) {
			t.Errorf("%s: exit %d, %s", code, res.ExitCode, s)
		}
	}
	for code, want := range map[string]string{
		load + "try { load({}) } catch (cause) { throw new Error('outer', { cause }) }": `^Error: outer\n    at cell-1:2:40 \{\n  \[cause\]: TypeError: Cannot read .*\n      at load \(cell-1:1:35\)\n      at cell-1:2:7\n\}$`,
		"await Promise.any([Promise.reject(new Error('one')), Promise.reject(2)])":      `^AggregateError: .* \{\n  \[errors\]: \[\n    Error: one\n        at cell-1:1:35,\n    2\n  \]\n\}$`,
		"const e = new Error('a'); e.cause = e; throw e":                                `^Error: a\n    at cell-1:1:11 \{\n  \[cause\]: (?s:.*)\[Circular`,
	} {
		res := run(t, ci, "javascript", code, nil)
		if s := strings.Join(res.Error.Traceback, "\n"); !regexp.MustCompile(want).MatchString(s) || driversFrames.MatchString(s) {
			t.Errorf("%s: %s", code, s)
		}
	}
	res = run(t, ci, "javascript", load+"load({})", nil)
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
		res := n.run(code, &codeinterp.RunOptions{Functions: callstest.Functions(t)})
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
	res := n.run("import sys\ntry: tools.echo(1)\nexcept TypeError as e:\n  if sys.version_info < (3, 11): raise\n  raise ExceptionGroup('g', [e])", &codeinterp.RunOptions{Functions: callstest.Functions(t)})
	if res.Error == nil || driversFrames.MatchString(strings.Join(res.Error.Traceback, "\n")) {
		t.Errorf("%+v", res.Error)
	}
}

func printed(res codeinterp.Result) string { return res.Stdout() + res.Stderr() }

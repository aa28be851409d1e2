//go:build unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestNodeErrorsThatFail: an error of which a part cannot be read is told by the rest.
func TestNodeErrorsThatFail(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		for _, tt := range []struct {
			code, name, message string
			line                int
		}{
			{"class E extends Error { get name() { throw 1 } }\nthrow new E('m')", "E", "m", 2},
			{"await null\nthrow Object.defineProperty(new TypeError('m'), 'name', { get() { null.x } })", "TypeError", "m", 2},
			{"throw Object.defineProperty(new RangeError('m'), 'name', { get() { throw new Error('deep') } })", "RangeError", "m", 1},
			{"throw Object.defineProperty(new RangeError('m'), 'message', { get() { null.x } })", "RangeError", "", 1},
			{"throw Object.defineProperty(new RangeError('m'), 'stack', { get() { null.x } })", "RangeError", "m", 0},
			{"\nvoid Promise.reject(new (class E extends Error { get name() { throw 1 } })('m'))", "E", "m", 2},
			{"throw Object.defineProperties(new RangeError('m'), { name: { get() { throw 1 } }, constructor: { get() { throw 1 } } })", "Error", "m", 1},
		} {
			for _, res := range []codeinterp.Result{n.run(tt.code, nil), run(t, n.ci, l.Name, tt.code, nil)} {
				if e := res.Error; e == nil || e.Name != tt.name || e.Message != tt.message || e.Line != tt.line || !strings.HasPrefix(e.Traceback[0], e.Name+": ") {
					t.Errorf("%s: %+v", tt.code, e)
				}
			}
		}
	}
}

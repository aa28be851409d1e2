//go:build unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// nodeEnvironments are the next programs of a context, each with TOKEN in its environment
// where that is set.
var nodeEnvironments = []struct{ code, token, want string }{
	{"var { execSync } = require('child_process'), sh = () => execSync('echo $TOKEN').toString().trim(), own = process.env; process.env = { ...process.env, MORE: '1' }; [process.env.TOKEN, own.TOKEN, sh()].join()", "one", "ok value=one,one,one"},
	{"var copy = process.env; [copy.TOKEN, copy.MORE, own.TOKEN, sh()].join()", "", "ok value=,1,,"},
	{"[copy.TOKEN, own.TOKEN, sh()].join()", "two", "ok value=two,two,two"},
	{"process.env = own; [copy.TOKEN, own.TOKEN, sh()].join()", "", "ok value=,,"},
	{"own.TOKEN = 'mine'; process.env = { ...own }; 1", "", "ok value=1"},
	{"process.env.TOKEN = 'other'; process.env = own; process.env.TOKEN", "three", "ok value=three"},
	{"[own.TOKEN, sh()].join()", "", "ok value=mine,mine"},
	{"delete process.env; own.TOKEN", "four", "ok value=four"},
	{"[typeof process.env, own.TOKEN].join()", "five", "ok value=undefined,five"},
	{"process.env = new Proxy({}, { set() { throw 5 }, deleteProperty() { throw 5 } }); own.TOKEN", "six", "ok value=six"},
	{"Object.defineProperty(process, 'env', { configurable: true, get() { throw 5 } }); own.TOKEN", "seven", "ok value=seven"},
	{"Object.defineProperty(process, 'env', { value: Object.freeze({ ...own }) }); own.TOKEN", "eight", "ok value=eight"},
	{"[own.TOKEN, sh()].join()", "", "ok value=mine,eight"},
}

// TestNodeEnvReplaced: what RunOptions.Env sets is there for one run, whatever the program
// puts in place of process.env, and costs no state.
func TestNodeEnvReplaced(t *testing.T) {
	for _, l := range []subprocess.Language{subprocess.JavaScript(), newerNode(t)} {
		n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
		for _, tt := range nodeEnvironments {
			o := &codeinterp.RunOptions{}
			if tt.token != "" {
				o.Env = map[string]string{"TOKEN": tt.token}
			}
			if res := n.run(tt.code, o); summary(res) != tt.want || res.StateLost || res.Stderr() != "" {
				t.Errorf("%s\ngot  %s %s\nwant %s", tt.code, summary(res), res.Stderr(), tt.want)
			}
		}
	}
}

//go:build linux

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestNodeMessages: the driver says no more to V8's inspector of a program that
// prints or awaits than of one that does neither. Each message costs a twentieth of
// a short run.
func TestNodeMessages(t *testing.T) {
	js := subprocess.JavaScript()
	for _, l := range []subprocess.Language{js, newerNode(t)} {
		t.Run(l.Name, func(t *testing.T) {
			n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{l}}), l.Name)
			n.run(`globalThis.said = 0;
const { Session } = require('inspector'), { post } = Session.prototype;
Session.prototype.post = function (...args) { said++; return post.apply(this, args) }`, nil)
			count := func(code string) string {
				n.run("said = 0", nil)
				if res := n.run(code, nil); !res.OK() {
					t.Errorf("%s: %s", code, summary(res))
				}
				res := n.run("said", nil)
				return res.Text()
			}
			least := count("var i = 0")
			for _, code := range []string{"console.log(1)", "console.error({ a: 1 })", "await null", "await new Promise((f) => setTimeout(f)); var i = 1"} {
				if got := count(code); got != least {
					t.Errorf("%s takes %s messages, an assignment %s", code, got, least)
				}
			}
		})
	}
}

// TestPythonAfter: what a program's end does for values that have something to lose
// is not done for others.
func TestPythonAfter(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}}), "python")
	after := func(value string) string {
		n.run("import sys\nnames = []\nsys.setprofile(lambda frame, event, arg: names.append(frame.f_code.co_name))\n"+value, nil)
		res := n.run("' '.join(names)", nil)
		return res.Text()
	}
	for _, name := range []string{"dropping", "method"} {
		if got := after("object()"); !strings.Contains(got, name) {
			t.Errorf("no %s after an object: %s", name, got)
		}
		if got := after("1 + 1"); strings.Contains(got, name) {
			t.Errorf("%s after a number: %s", name, got)
		}
	}
}

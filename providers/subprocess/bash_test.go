//go:build unix

package subprocess_test

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestBashState has a context keep what the driver's own names might hide,
// over the end of a program that takes the shell along.
func TestBashState(t *testing.T) {
	n := newNotebook(t, open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Bash()}}), "bash")
	const show = "echo $name $status $state $how $run $size $n ${list[1]} $(f) $PWD $x"
	n.run("cd /usr; name=a status=b state=c how=d run=e size=f n=g list=(0 h); f() { echo i; }", nil)
	const want = "a b c d e f g h i /usr"
	for _, tt := range []struct{ code, status string }{
		{"exit 3", "error"},
		{":", "ok"},
		{"set -e; false", "error"},
		{"set +e; exit 0", "ok"},
	} {
		if res := n.run(tt.code, nil); string(res.Status) != tt.status || res.StateLost {
			t.Errorf("%s: got %s", tt.code, summary(res))
		}
		if res := n.run(show, nil); res.Stdout() != want+"\n" {
			t.Errorf("after %s: got %swant %s", tt.code, res.Stdout(), want)
		}
	}
	env := map[string]string{"name": "1", "how": "2", "run": "3", "x": "4"}
	if res := n.run(show, &codeinterp.RunOptions{Env: env}); res.Stdout() != "1 b c 2 3 f g h i /usr 4\n" {
		t.Errorf("with an environment: got %s", summary(res))
	}
	if res := n.run(show, nil); res.Stdout() != want+"\n" {
		t.Errorf("after an environment: got %s", summary(res))
	}
}

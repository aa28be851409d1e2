//go:build real && unix

package subprocess_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// leftBehind are programs that leave something behind, which prints and shows
// once the next run says so, and what that says.
var leftBehind = []struct{ name, first, second string }{
	{"thread", `
import threading
go, done = threading.Event(), threading.Event()
def work():
    go.wait()
    print("line 0"); display("shown", display_id="d"); update_display("again", display_id="d"); clear_output(); print("line 1", flush=True)
    done.set()
threading.Thread(target=work, daemon=True).start()`, `print("own 0"); go.set(); done.wait(60); print("own 1"); 2`},
	{"task", `
import asyncio
go, done = asyncio.Event(), asyncio.Event()
async def work():
    await go.wait()
    print("line 0"); display("shown", display_id="d"); update_display("again", display_id="d"); clear_output(); print("line 1", flush=True)
    done.set()
task = asyncio.create_task(work())
await asyncio.sleep(0)`, `print("own 0"); go.set(); await done.wait(); print("own 1"); 2`},
}

// TestLateDuringRun: what a thread or a task of an earlier run prints and
// displays during a run comes with that run, as it comes, and marked.
func TestLateDuringRun(t *testing.T) {
	p := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	for _, c := range leftBehind {
		t.Run(c.name, func(t *testing.T) {
			n := newNotebook(t, p, "python")
			if res := n.run(c.first, nil); !res.OK() {
				t.Fatal(summary(res))
			}
			var live []string
			res := n.run(c.second, &codeinterp.RunOptions{OnOutput: func(o codeinterp.Output) error {
				if s := fmt.Sprint(o.Kind, " ", strings.TrimSpace(o.Text()), " ", o.Update); o.Late && s != "stdout  false" {
					live = append(live, s) // print writes the end of a line by itself
				}
				return nil
			}})
			want := []string{"stdout line 0 false", "display 'shown' false", "display 'again' true", "stdout line 1 false"}
			if !slices.Equal(live, want) {
				t.Errorf("OnOutput saw %q, want %q", live, want)
			}
			var late strings.Builder
			for _, o := range res.Outputs {
				if o.Late {
					late.WriteString(o.Text())
				}
			}
			if res.Text() != "2" || res.Stdout() != "own 0\nown 1\n" || late.String() != "line 0\n'again'line 1\n" {
				t.Errorf("late %q of %s", late.String(), summary(res))
			}
			if res := n.run("3", nil); len(res.Outputs) != 1 || res.Text() != "3" {
				t.Errorf("the next run: %s", summary(res))
			}
		})
	}
}

// TestTasksWithoutAwait protects row 21: a program that awaits nothing starts tasks, and
// asyncio.run works beside them.
func TestTasksWithoutAwait(t *testing.T) {
	p := open(t, subprocess.Options{Languages: []subprocess.Language{subprocess.Python()}})
	n := newNotebook(t, p, "python")
	for _, c := range []struct{ code, stdout, value string }{
		{"import asyncio\nasync def w(v):\n  await asyncio.sleep(0.01)\n  return v\nt = asyncio.create_task(w(1))\nprint('on')", "on\n", ""},
		{"await t", "", "1"},
		{"u = asyncio.get_running_loop().create_task(w(2)); asyncio.run(w(3))", "", "3"},
		{"await u", "", "2"},
		{"def start(): return asyncio.create_task(w(4))\nv = start(); asyncio.new_event_loop().run_until_complete(w(5))", "", "5"},
		{"await v", "", "4"},
	} {
		if res := n.run(c.code, nil); !res.OK() || res.Stdout() != c.stdout || res.Stderr() != "" || res.Text() != c.value {
			t.Errorf("%s: %v", c.code, summary(res))
		}
	}
}

//go:build linux

package jupyter_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// sequence is outputs in short, one word for each but joined text: what was printed by
// its length, and what was shown by its text, or the length of that where it is long.
func sequence(outputs []codeinterp.Output) string {
	var words []string
	printed, length := codeinterp.Kind(0), 0
	for _, o := range outputs {
		text := o.Text()
		if html, ok := o.Richest("text/html"); ok {
			text = string(html.Data)
		}
		if len(text) > 40 {
			text = fmt.Sprint(len(text))
		}
		switch {
		case o.Kind == codeinterp.Stdout || o.Kind == codeinterp.Stderr:
			if o.Kind == printed {
				words = words[:len(words)-1]
			} else {
				length = 0
			}
			length += len(o.Data)
			words = append(words, fmt.Sprint(o.Kind, "=", length))
		case o.Kind == codeinterp.Clear:
			words = nil // and what came before is of no interest
		case o.Update:
			words = append(words, "update="+text)
		default:
			words = append(words, fmt.Sprint(o.Kind, "=", text))
		}
		printed = o.Kind
	}
	return strings.Join(words, " ")
}

// TestSpillOrder: what a program shows behind what it printed comes behind that, to
// OnOutput too, whether that was spooled or not.
func TestSpillOrder(t *testing.T) {
	t.Parallel()
	const much, shown = "print('x' * 2_299_999)\n", "display('a')\nprint('text')\ndisplay('b')\n5"
	rows := []struct {
		name, code string
		want       string
		live       string // where OnOutput sees it otherwise
		failed     bool
	}{
		{"a value", much + "5", "stdout=2300000 result=5", "", false},
		{"displays", much + shown, "stdout=2300000 display='a' stdout=5 display='b' result=5", "", false},
		{"displays before", "display('first')\n" + much + shown, "display='first' stdout=2300000 display='a' stdout=5 display='b' result=5", "", false},
		{"standard error", much + "display('a')\nprint('text', file=sys.stderr)\ndisplay('b')", "stdout=2300000 display='a' stderr=5 display='b'", "", false},
		{"an update of a display before", "h = display('one', display_id=True)\n" + much + "h.update('two')", "display='two' stdout=2300000", "display='one' stdout=2300000 update='two'", false},
		{"an update of one behind", much + "h = display('one', display_id=True)\nprint('text')\nh.update('two')", "stdout=2300000 display='two' stdout=5", "stdout=2300000 display='one' stdout=5 update='two'", false},
		{"a large display", much + "display(HTML('x' * 3_000_000))\ndisplay('b')", "stdout=2300000 display=3000000 display='b'", "", false},
		{"many in turns", much + "for i in range(300): print('text'); display(i)", "stdout=2300005" + turns(300), "", false},
		{"of a thread", much + "thread = threading.Thread(target=display, args=('a',)); thread.start(); thread.join()\nprint('text')", "stdout=2300000 display='a' stdout=5", "", false},
		{"cleared at once", much + "display('cleared')\nclear_output()\n" + shown, "display='a' stdout=5 display='b' result=5", "", false},
		{"cleared at once, and much behind", much + "display('cleared')\nclear_output()\n" + much + shown, "stdout=2300000 display='a' stdout=5 display='b' result=5", "", false},
		{"cleared by a display", much + "display('cleared')\nclear_output(wait=True)\n" + shown, "display='a' stdout=5 display='b' result=5", "", false},
		{"cleared by text", much + "display('cleared')\nclear_output(wait=True)\n" + much + shown, "stdout=2300000 display='a' stdout=5 display='b' result=5", "", false},
		{"a clear that waits for nothing", much + "display('a')\nclear_output(wait=True)", "stdout=2300000 display='a'", "", false},
		{"what UTF-8 cannot carry", much + "display(HTML('\\ud800')); print('text')", "stdout=2300000 display=\ufffd stdout=5", "", false},
		{"an error", much + "display('a')\nprint('text')\n1 / 0", "stdout=2300000 display='a' stdout=5", "", true},
		{"an interrupt", much + "display('a')\nprint('text')\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(600)", "stdout=2300000 display='a' stdout=5", "", true},
		{"nothing printed", "display('a')\n5", "display='a' result=5", "", false},
	}
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		c.ok("import signal, sys, threading, time\nfrom IPython.display import HTML, clear_output")
		for i, tt := range rows {
			if !race.Takes(i, 3) {
				continue
			}
			seen, opts := []codeinterp.Output(nil), spilling()
			opts.OnOutput = func(o codeinterp.Output) error {
				seen = append(seen, o)
				return nil
			}
			for _, opts := range []*codeinterp.RunOptions{opts, spilling()} {
				res, err := c.run(tt.code, opts)
				if got := sequence(res.Outputs); err != nil || res.OK() == tt.failed || got != tt.want || len(res.Truncated) > 0 {
					t.Errorf("%s: %s, %s, error %+v, %+v, %v", tt.name, res.Status, got, res.Error, res.Truncated, err)
				}
			}
			if got := sequence(seen); got != cmp.Or(tt.live, tt.want) {
				t.Errorf("%s: OnOutput saw %s", tt.name, got)
			}
		}
	})
}

// turns is the sequence of n texts and numbers in turns, but for the first text.
func turns(n int) string {
	var b strings.Builder
	b.WriteString(" display=0")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, " stdout=5 display=%d", i)
	}
	return b.String()
}

// TestSpillOrderOfManyRuns: what is printed over quick runs adds up to more than is let
// through, and the value of each comes behind what it printed.
func TestSpillOrderOfManyRuns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		for i := range 20 {
			res, err := c.run("import sys\nprint(('0123456789' * 100 + '\\n') * 261, end='', file=sys.stderr, flush=True)\n5", spilling())
			if got := sequence(res.Outputs); err != nil || got != "stderr=261261 result=5" {
				t.Fatalf("run %d: %s, %+v, %v", i, got, res.Truncated, err)
			}
		}
	})
}

// TestSpillWithoutRoom: what is shown behind what there was no room for is told to be
// missing as that is.
func TestSpillWithoutRoom(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		res, err := c.run("import resource, sys\nold = resource.getrlimit(resource.RLIMIT_FSIZE)\nresource.setrlimit(resource.RLIMIT_FSIZE, (500_000, old[1]))\n"+
			large+"display('a')\nresource.setrlimit(resource.RLIMIT_FSIZE, old)\n5", spilling())
		var lost []string
		for _, tr := range res.Truncated {
			if tr.Reason == codeinterp.TruncatedByLimit && tr.Kept < tr.Bytes {
				lost = append(lost, tr.Stream)
			}
		}
		if slices.Sort(lost); err != nil || !res.OK() || strings.Join(lost, " ") != "display result stdout" {
			t.Errorf("%s, %s, %+v, %v", res.Status, sequence(res.Outputs), res.Truncated, err)
		}
		if got := sequence(c.ok(large + "display('a')").Outputs); !strings.HasSuffix(got, " display='a'") {
			t.Errorf("after that: %s", got)
		}
	})
}

// TestSpillForged: what a program puts in the place of what was spooled harms nobody,
// and what is malformed is told.
func TestSpillForged(t *testing.T) {
	t.Parallel()
	const all = "stdout stderr display result "
	const shown = `{"data": {"text/plain": "5"}, "metadata": {}}`
	rows := []struct {
		name, pieces string // NAME:TEXT as one answer each, in Python
		want         string
		lost         string // streams and the reason
	}{
		{"as it is", "('stdout:a', 'display_data 45:" + shown + "', 'execute_result 45:" + shown + "')", "stdout=1 display=5 result=5", ""},
		{"a huge size", "('display_data 999999999999999:" + shown + "',)", "", all + "rate"},
		{"a negative size", "('display_data -1:" + shown + "',)", "", all + "rate"},
		{"no end", "('display_data 46:" + shown + "',)", "", all + "rate"},
		{"no JSON", "('display_data 3:{\"a', 'stdout:a')", "stdout=1", "display limit"},
		{"no display", "('display_data 1:5', 'stdout:a')", "stdout=1", ""},
		{"an unknown type", "('status 1:5', 'stdout:a')", "", all + "rate"},
	}
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{Spill: true})
		c.ok("import base64\nspool = get_ipython()._toolcell.spool\n" +
			"def take(run):\n  name, _, text = next(pieces, ':').partition(':')\n  return name and name + ':' + base64.b64encode(text.encode()).decode()\n" +
			"spool.take = take")
		for _, tt := range rows {
			res, err := c.run("pieces = iter("+tt.pieces+"); spool.mark(spool.streams[0], spool.header, 'own')", spilling())
			lost := ""
			for _, tr := range res.Truncated {
				lost += tr.Stream + " "
			}
			lost += string(reason(res))
			if got := sequence(res.Outputs); err != nil || !res.OK() || got != tt.want || lost != tt.lost {
				t.Errorf("%s: %s, %q, %+v, %v", tt.name, res.Status, got, res.Truncated, err)
			}
		}
	})
}

//go:build linux

package jupyter_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestEndsOfARun wants RunCode to end what a program leaves as the end of a process
// does, and to show no frames but the program's.
func TestEndsOfARun(t *testing.T) {
	t.Parallel()
	const left = "import asyncio\nasync def left():\n  try: await asyncio.sleep(100)\n  finally: print('cleanup')\n" +
		"t = asyncio.ensure_future(left())\nawait asyncio.sleep(0.01)\nprint('end')\n"
	file := regexp.MustCompile(`File "([^"]*)"`)
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for code, want := range map[string]string{
			left: "end\ncleanup\n", left + "1/0": "end\ncleanup\n", left + "import sys; sys.exit(1)": "end\ncleanup\n",
			"import atexit\ndef f(): 1/0\nprint(bool(atexit.register(f)))": "True\n",
		} {
			res, err := c.ci.RunCode(t.Context(), "python", code, nil)
			if err != nil || res.Stdout() != want || res.OK() != (code == left || strings.HasPrefix(code, "import atexit")) {
				t.Errorf("%q: %+v, %v", code, res, err)
			}
			for _, m := range file.FindAllStringSubmatch(res.Stderr(), -1) {
				if m[1] != "<cell 1>" {
					t.Errorf("%q shows a frame of %s", code, m[1])
				}
			}
		}
		const generator = "import asyncio\nasync def g():\n  try: yield 1\n  finally:\n    print('closed'); %s\nasync for x in g():\n  print(x); break\n"
		for _, tt := range []struct{ code, stdout, stderr string }{
			{fmt.Sprintf(generator, ""), "1\nclosed\n", ""},
			{"import asyncio\nasync def left():\n  try: await asyncio.sleep(100)\n  except asyncio.CancelledError: raise ValueError('at the end')\nt = asyncio.ensure_future(left())\nawait asyncio.sleep(0.01)", "", "ValueError: at the end"},
			{fmt.Sprintf(generator, "1/0"), "1\nclosed\n", "ZeroDivisionError"},
		} {
			res, err := c.ci.RunCode(t.Context(), "python", tt.code, nil)
			if err != nil || !res.OK() || res.Stdout() != tt.stdout || !strings.Contains(res.Stderr(), tt.stderr) || (res.Stderr() == "") != (tt.stderr == "") {
				t.Errorf("%s: %+v, stdout %q, stderr %q, %v", tt.code, res, res.Stdout(), res.Stderr(), err)
			}
		}
		// In a context they live on.
		if res := c.ok(left); res.Stdout() != "end\n" || res.Status != codeinterp.StatusOK {
			t.Errorf("%+v", res)
		}
		if res := c.ok("t.done()"); res.Text() != "False" {
			t.Errorf("%+v", res)
		}
	})
}

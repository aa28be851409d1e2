//go:build linux

package jupyter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callstest"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestFunctionsTogether has programs make a hundred calls that wait for each other.
func TestFunctionsTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		for _, code := range callstest.Met() {
			meet := callstest.Meet(100)
			res, err := c.run(code, &codeinterp.RunOptions{Functions: []codeinterp.Function{meet}, Timeout: 10 * time.Minute})
			if err != nil || res.Stdout() != "True\n" {
				t.Errorf("%s: %+v, %v", code, res, err)
			}
		}
	})
}

// TestCallsInOrder: calls that a program makes at once are in the order in which it
// made them, in the record and for functions.
func TestCallsInOrder(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		res, err := c.run("import asyncio\nawait asyncio.gather(*(tools.aio.echo(v=i) for i in range(200)))\nNone", &codeinterp.RunOptions{Functions: callstest.Functions(t)})
		if err != nil || len(res.Calls) != 200 {
			t.Fatalf("%d calls, %+v, %v", len(res.Calls), res, err)
		}
		for i, call := range res.Calls {
			if want := fmt.Sprintf(`{"v":%d}`, i); strings.ReplaceAll(string(call.Args), " ", "") != want {
				t.Fatalf("call %d has %s", i, call.Args)
			}
		}
	})
}

// TestFunctions runs programs that call functions, and wants nothing of these to
// be there in the runs after it.
func TestFunctions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *server) {
		c := realSession(t, s, jupyter.Options{})
		own := callstest.Program{Name: "in a cell of a cell", Code: "get_ipython().run_cell('print(tools.echo(v=1))')\nprint(tools.echo(v=2))", Stdout: "1\n2\n"}
		for i, p := range append(callstest.Python(), own) {
			if strings.HasPrefix(p.Name, "large") && (race.Less() && (i%2 == 0) != (s.kind == "server6") || !race.Takes(i, 3)) {
				continue // megabytes take the race detector seconds: each server has half of them
			}
			res, err := c.run(p.Code, &codeinterp.RunOptions{Functions: callstest.Functions(t), Timeout: 10 * time.Minute})
			if strings.HasPrefix(p.Name, "awaited") && res.Error != nil && !strings.Contains(res.Error.Message, "tools.aio.") {
				t.Errorf("no hint: %+v", res.Error)
			}
			if err != nil || !p.Ended(res) {
				t.Errorf("%s: %.1000s, error %+v, %v", p.Name, fmt.Sprintf("%+v", res), res.Error, err)
			}
		}
		if res, err := c.run("try: tools\nexcept NameError:\n    try: import tools\n    except ImportError: print('none')", nil); err != nil || res.Stdout() != "none\n" {
			t.Errorf("%+v, %v", res, err)
		}
		res, err := c.run("print(input('name? '), tools.echo(v=3), input())", &codeinterp.RunOptions{Functions: callstest.Functions(t), Stdin: []byte("ada\nb\n")})
		if err != nil || res.Stdout() != "name? ada 3 b\n" {
			t.Errorf("%+v, %v", res, err)
		}
		res, err = c.ci.RunCode(t.Context(), "python", "import threading\nthreading.Thread(target=lambda: print(tools.echo(v=4))).start()", &codeinterp.RunOptions{Functions: callstest.Functions(t)})
		if err != nil || res.Stdout() != "4\n" || len(res.Calls) != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

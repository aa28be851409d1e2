//go:build real && linux

package subprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestPauseTerminal: a job of an interactive shell is not taken for stopped by its user,
// and keys that are typed in a pause arrive after it.
func TestPauseTerminal(t *testing.T) {
	terminalModes(t, func(t *testing.T, ci codeinterp.CodeInterpreter) {
		p := pauser(t, ci)
		c := openConsole(t, ci, "")
		c.typeText("PS1='> '; echo be${X}gin\r")
		c.expect("begin\r\n")
		c.typeText("bash -c 'echo re${X}ady; while read -r line; do echo got $line; done'\r")
		c.expect("ready\r\n")
		for range 10 {
			c.typeText("word\r")
			c.expect("got word")
			if err := p.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			if list := computing(t); len(list) > 0 {
				t.Errorf("not stopped: %q", list)
			}
			c.typeText("typed\r")
			time.Sleep(20 * time.Millisecond)
			if err := p.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.expect("got typed")
		}
		c.typeText("\x04")
		c.typeText("exit\r")
		<-c.done
		if strings.Contains(c.res.Stdout(), "Stopped") {
			t.Errorf("the shell saw its job stop: %q", c.res.Stdout())
		}
	})
}

// TestPauseWarm: runs that begin while the interpreter is paused again and again all end
// well, also those whose processes are forked from a server.
func TestPauseWarm(t *testing.T) {
	o := inMode(subprocess.Landlock)
	o.Warm, o.Languages = &subprocess.Warm{Pool: 1}, []subprocess.Language{subprocess.Python()}
	ci := open(t, o)
	p := pauser(t, ci)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	ran := 0
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				res, err := ci.RunCode(context.Background(), "python", "6 * 7", nil)
				if errors.Is(err, codeinterp.ErrPaused) {
					time.Sleep(time.Millisecond)
					continue
				}
				if err != nil || res.Text() != "42" {
					t.Errorf("%s, %v", summary(res), err)
				}
				mu.Lock()
				ran++
				mu.Unlock()
			}
		})
	}
	for range 15 {
		time.Sleep(30 * time.Millisecond)
		if err := p.Pause(ctx); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Millisecond)
		if err := p.Resume(ctx); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
	if ran == 0 {
		t.Error("nothing ran")
	}
}

// TestPauseWrite: a large answer to a program arrives after a pause that is longer than
// a program has to read it.
func TestPauseWrite(t *testing.T) {
	if !tier.Full {
		t.Skip("takes longer than a write may: tag full")
	}
	ci := open(t, inMode(subprocess.Landlock))
	p := pauser(t, ci)
	n := newNotebook(t, ci, "python")
	called, paused := make(chan struct{}), make(chan struct{})
	big := codeinterp.Function{Name: "big", Call: func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		close(called)
		<-paused
		return json.Marshal(strings.Repeat("x", 8<<20))
	}}
	got := make(chan codeinterp.Result)
	go func() {
		got <- n.run("len(tools.big())", &codeinterp.RunOptions{Functions: []codeinterp.Function{big}})
	}()
	<-called
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(paused)
	time.Sleep(11 * time.Second)
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := <-got; res.Text() != "8388608" || res.StateLost {
		t.Errorf("%s, %s", summary(res), res.Stderr())
	}
}

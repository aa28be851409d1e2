//go:build unix

package shell_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
)

// TestService runs the table of what a shell has to do.
func TestService(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"run": foreground, "background": background, "input": input, "stop": stop, "close": ends, "many": many, "owners": owners, "refused": refused,
	} {
		t.Run(name, test)
	}
}

func start(t testing.TB, s *shell.Shell, line string) shell.ID {
	t.Helper()
	id, err := s.Start(t.Context(), line, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wait(t testing.TB, s *shell.Shell, id shell.ID) shell.Info {
	t.Helper()
	info, err := s.Wait(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// until follows a command's output until it has text in it.
func until(t testing.TB, s *shell.Shell, id shell.ID, text string) {
	t.Helper()
	var all []byte
	for next := int64(0); !bytes.Contains(all, []byte(text)); {
		c, err := s.Follow(t.Context(), id, &shell.OutputOptions{Offset: next})
		if err != nil || c.End {
			t.Fatalf("no %q in %q, %v", text, all, err)
		}
		all, next = append(all, c.Data...), c.Next
	}
}

func foreground(t *testing.T) {
	s := open(t, nil)
	res, err := s.Run(t.Context(), "echo out; echo err >&2; exit 3", nil)
	if err != nil || res.ExitCode != 3 || res.Stdout() != "out\n" || res.Stderr() != "err\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if list, err := s.List(t.Context()); len(list) > 0 || err != nil {
		t.Errorf("it is in the background: %v, %v", list, err)
	}
}

// background: a command is seen while it runs and after it has ended.
func background(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "echo begun; read line; echo got $line; exit 4")
	until(t, s, id, "begun\n")
	list, err := s.List(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id || !list[0].Running || list[0].Written != 6 {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.Write(t.Context(), id, []byte("a line\n"), nil); n != 7 || err != nil {
		t.Error(n, err)
	}
	info := wait(t, s, id)
	if info.Running || info.Result.ExitCode != 4 || info.Err != nil {
		t.Errorf("%+v", info)
	}
	for offset, want := range map[int64]string{0: "begun\ngot a line\n", 6: "got a line\n", -5: "line\n", -100: "begun\ngot a line\n", 17: ""} {
		if c, err := s.Output(t.Context(), id, &shell.OutputOptions{Offset: offset}); string(c.Data) != want || !c.End || c.Next != 17 || err != nil {
			t.Errorf("from %d: %q %+v, %v", offset, c.Data, c, err)
		}
	}
	if _, err := s.Output(t.Context(), id, &shell.OutputOptions{Offset: 18}); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("beyond the end: %v", err)
	}
	if _, err := s.Write(t.Context(), id, []byte("x"), nil); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("input of one that has ended: %v", err)
	}
	if err := s.Signal(t.Context(), id, codeinterp.SignalTerminate); err != nil {
		t.Errorf("signal to one that has ended: %v", err)
	}
}

// input: the end of input is one, and unread input does not hold
// its writer up for longer than he wants.
func input(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "wc -c")
	big := bytes.Repeat([]byte("x"), 1<<20)
	if _, err := s.Write(t.Context(), id, big, &shell.WriteOptions{Close: true}); err != nil {
		t.Fatal(err)
	}
	wait(t, s, id)
	if c, _ := s.Output(t.Context(), id, nil); strings.TrimSpace(string(c.Data)) != "1048576" {
		t.Errorf("%q", c.Data)
	}
	id = start(t, s, "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := s.Write(ctx, id, big, &shell.WriteOptions{Close: true}); n >= len(big) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(n, err)
	}
}

// stop: Stop ends a command that handles SIGTERM by that, and another all the
// same.
func stop(t *testing.T) {
	s := open(t, nil)
	for line, status := range map[string]codeinterp.Status{
		"echo on; sleep 1000": codeinterp.StatusError,
		// A shell that learns of the signal by its child's end would go on.
		`sh -c 'sh -c "sh -c \"echo on; sleep 1000; echo 4\"; echo 3"; echo 2'; echo 1`: codeinterp.StatusError,
		"trap 'exit 0' TERM; echo on; while :; do wait; done":                           codeinterp.StatusOK,
		"trap '' TERM; echo on; while :; do sleep 1; done":                              codeinterp.StatusCanceled,
	} {
		id := start(t, s, line)
		until(t, s, id, "on\n")
		if info, err := s.Stop(t.Context(), id); info.Running || info.Result.Status != status || err != nil {
			t.Errorf("%s: %+v, %v", line, info, err)
		}
	}
}

// ends: Close ends what runs, before and behind, and refuses the rest.
func ends(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "trap '' TERM; sleep 1000 & wait")
	ran := make(chan codeinterp.Result)
	begun := make(chan struct{})
	go func() {
		res, _ := s.Run(context.Background(), "echo x; sleep 1000", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
			OnOutput: func(codeinterp.Output) error { close(begun); return nil },
		}})
		ran <- res
	}()
	<-begun
	go s.Close()
	res := <-ran
	if err := s.Close(); err != nil || res.Status != codeinterp.StatusLost || res.Cause != codeinterp.CauseClosed {
		t.Errorf("%v, %+v", err, res)
	}
	if info := wait(t, s, id); info.Result.Status != codeinterp.StatusLost || !errors.Is(info.Err, codeinterp.ErrClosed) {
		t.Errorf("%+v", info)
	}
	if _, err := s.Start(t.Context(), "true", nil); !errors.Is(err, codeinterp.ErrClosed) {
		t.Error(err)
	}
	in, w := io.Pipe()
	if _, err := s.Run(t.Context(), "true", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Input: in}}); !errors.Is(err, codeinterp.ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the input of a command that was refused: %v", err)
	}
}

// many: there are only so many commands at once, and so many that have ended
// are remembered.
func many(t *testing.T) {
	s := open(t, &shell.Options{MaxCommands: 2, MaxEnded: 2})
	first := start(t, s, "sleep 1000")
	start(t, s, "sleep 1000")
	if _, err := s.Start(t.Context(), "true", nil); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("a third one: %v", err)
	}
	if _, err := s.Stop(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wait(t, s, start(t, s, "true"))
	}
	if _, err := s.Wait(t.Context(), first); !errors.Is(err, shell.ErrCommand) {
		t.Errorf("the first is still known: %v", err)
	}
	start(t, s, "sleep 1000") // forgets none: it has not ended
	if list, _ := s.List(t.Context()); len(list) != 4 {
		t.Errorf("%d commands", len(list))
	}
}

type ownerKey struct{}

// owners: commands of one owner are not there for another.
func owners(t *testing.T) {
	s := open(t, nil)
	v := s.With(shell.View{Owner: func(ctx context.Context) any { return ctx.Value(ownerKey{}) }})
	a := context.WithValue(t.Context(), ownerKey{}, "a")
	b := context.WithValue(t.Context(), ownerKey{}, "b")
	id, err := v.Start(a, "sleep 1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := v.Start(b, "sleep 1000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Stop(b, id); !errors.Is(err, shell.ErrCommand) {
		t.Errorf("b stops it: %v", err)
	}
	if list, _ := v.List(b); len(list) != 1 || list[0].ID != other {
		t.Errorf("b sees %v", list)
	}
	v.Release(b)
	if list, _ := s.List(t.Context()); len(list) != 1 || list[0].ID != id || !list[0].Running {
		t.Errorf("left: %v", list)
	}
}

// refused: a middleware decides about commands as it does about programs.
func refused(t *testing.T) {
	s := open(t, nil).With(shell.View{Middlewares: []codeinterp.Middleware{
		codeinterp.Approve(func(_ context.Context, c codeinterp.Call) error {
			if c.Op == codeinterp.OpCommand && strings.HasPrefix(c.Code, "rm ") {
				return errors.New("no")
			}
			return nil
		}),
	}})
	if res, err := s.Run(t.Context(), "rm x", nil); !errors.Is(err, codeinterp.ErrRefused) || res.Status != codeinterp.StatusNotRun {
		t.Error(res.Status, err)
	}
	if _, err := s.Start(t.Context(), "rm x", nil); !errors.Is(err, codeinterp.ErrRefused) {
		t.Error(err)
	}
	if list, _ := s.List(t.Context()); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if res, err := s.Run(t.Context(), "true", nil); !res.OK() || err != nil {
		t.Error(res.Status, err)
	}
}

//go:build unix

package shell_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/shell"
)

func TestMain(m *testing.M) { os.Exit(leftover.Run(m)) }

// open returns a Service over processes in landlock mode.
func open(t testing.TB, o *shell.Options) *shell.Service {
	t.Helper()
	ci, err := subprocess.New(&subprocess.Options{Require: subprocess.Landlock, Languages: []subprocess.Language{subprocess.Bash()}})
	if errors.Is(err, codeinterp.ErrIsolation) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	s, err := shell.New(ci, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func start(t testing.TB, s *shell.Service, line string) shell.ID {
	t.Helper()
	id, err := s.Start(t.Context(), line, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wait(t testing.TB, s *shell.Service, id shell.ID) shell.Info {
	t.Helper()
	info, err := s.Wait(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// until follows a command's output until it has text in it.
func until(t testing.TB, s *shell.Service, id shell.ID, text string) {
	t.Helper()
	var all []byte
	for next := int64(0); !bytes.Contains(all, []byte(text)); {
		c, err := s.Follow(t.Context(), id, next, 0)
		if err != nil || c.End {
			t.Fatalf("no %q in %q, %v", text, all, err)
		}
		all, next = append(all, c.Data...), c.Next
	}
}

func TestNone(t *testing.T) {
	ci, err := inmemory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	if _, err := shell.New(ci, nil); !errors.Is(err, codeinterp.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestRun(t *testing.T) {
	s := open(t, nil)
	res, err := s.Run(t.Context(), "echo out; echo err >&2; exit 3", nil)
	if err != nil || res.ExitCode != 3 || res.Stdout() != "out\n" || res.Stderr() != "err\n" {
		t.Errorf("%+v, %v", res, err)
	}
	if list, err := s.List(t.Context()); len(list) > 0 || err != nil {
		t.Errorf("it is in the background: %v, %v", list, err)
	}
}

// TestBackground: a command is seen while it runs and after it has ended.
func TestBackground(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "echo begun; read line; echo got $line; exit 4")
	until(t, s, id, "begun\n")
	list, err := s.List(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id || !list[0].Running || list[0].Written != 6 {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := s.Write(t.Context(), id, []byte("a line\n"), false); n != 7 || err != nil {
		t.Error(n, err)
	}
	info := wait(t, s, id)
	if info.Running || info.Result.ExitCode != 4 || info.Err != nil {
		t.Errorf("%+v", info)
	}
	for offset, want := range map[int64]string{0: "begun\ngot a line\n", 6: "got a line\n", -5: "line\n", -100: "begun\ngot a line\n", 17: ""} {
		if c, err := s.Output(t.Context(), id, offset, 0); string(c.Data) != want || !c.End || c.Next != 17 || err != nil {
			t.Errorf("from %d: %q %+v, %v", offset, c.Data, c, err)
		}
	}
	if _, err := s.Output(t.Context(), id, 18, 0); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("beyond the end: %v", err)
	}
	if _, err := s.Write(t.Context(), id, []byte("x"), false); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Errorf("input of one that has ended: %v", err)
	}
	if err := s.Signal(t.Context(), id, codeinterp.SignalTerminate); err != nil {
		t.Errorf("signal to one that has ended: %v", err)
	}
}

// TestInput: the end of input is one, and input that nobody reads does not hold
// its writer up for longer than he wants.
func TestInput(t *testing.T) {
	s := open(t, nil)
	id := start(t, s, "wc -c")
	big := bytes.Repeat([]byte("x"), 1<<20)
	if _, err := s.Write(t.Context(), id, big, true); err != nil {
		t.Fatal(err)
	}
	wait(t, s, id)
	if c, _ := s.Output(t.Context(), id, 0, 0); strings.TrimSpace(string(c.Data)) != "1048576" {
		t.Errorf("%q", c.Data)
	}
	id = start(t, s, "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := s.Write(ctx, id, big, true); n >= len(big) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(n, err)
	}
}

// TestFlat: of 200 MB of output the ring keeps the last, every byte at its
// offset, and memory stays what it was.
func TestFlat(t *testing.T) {
	const line, total = 997, 200_000_000
	s := open(t, nil)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	id := start(t, s, "yes $(printf '%0996d' 0 | sed s/000/123/) | head -c 200000000")
	var want [line]byte
	copy(want[:], "123"+strings.Repeat("0", line-4)+"\n")
	var seen, missed int64
	for next := int64(0); ; {
		c, err := s.Follow(t.Context(), id, next, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c.Offset != next+c.Missed || c.Next != c.Offset+int64(len(c.Data)) {
			t.Fatalf("from %d: %d..%d, missed %d", next, c.Offset, c.Next, c.Missed)
		}
		for i, b := range c.Data {
			if at := (c.Offset + int64(i)) % line; b != want[at] {
				t.Fatalf("byte %d is %q, want %q", c.Offset+int64(i), b, want[at])
			}
		}
		seen, missed, next = seen+int64(len(c.Data)), missed+c.Missed, c.Next
		if c.End {
			break
		}
		time.Sleep(time.Millisecond) // so that it misses some
	}
	info := wait(t, s, id)
	if seen+missed != total || info.Written != total || info.Dropped != total-1<<20 || info.Result.ExitCode != 0 {
		t.Errorf("seen %d, missed %d, %+v", seen, missed, info)
	}
	runtime.GC()
	runtime.ReadMemStats(&now)
	if grown := int64(now.Sys) - int64(before.Sys); grown > 48<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap keeps %d bytes", grown)
	}
}

// TestStop: Stop ends a command that heeds SIGTERM by that, and another all the
// same.
func TestStop(t *testing.T) {
	s := open(t, nil)
	for line, status := range map[string]codeinterp.Status{
		"echo on; sleep 1000": codeinterp.StatusError,
		"trap 'exit 0' TERM; echo on; while :; do wait; done": codeinterp.StatusOK,
		"trap '' TERM; echo on; while :; do sleep 1; done":    codeinterp.StatusCanceled,
	} {
		id := start(t, s, line)
		until(t, s, id, "on\n")
		if info, err := s.Stop(t.Context(), id); info.Running || info.Result.Status != status || err != nil {
			t.Errorf("%s: %+v, %v", line, info, err)
		}
	}
}

// TestClose: Close ends what runs, before and behind, and refuses the rest.
func TestClose(t *testing.T) {
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

// TestLastWords: what a command writes while it is killed, which OnOutput is not
// told, is kept too.
func TestLastWords(t *testing.T) {
	s := open(t, nil)
	busy, free := make(chan struct{}), make(chan struct{})
	id, err := s.Start(t.Context(), "echo on; yes", &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{
		OnOutput: func(codeinterp.Output) error { // is told of the first piece only
			close(busy)
			<-free
			return nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	<-busy
	time.Sleep(200 * time.Millisecond) // the pipe is full by then
	time.AfterFunc(200*time.Millisecond, func() { close(free) })
	s.Close()
	if info := wait(t, s, id); info.Written < 64<<10 {
		t.Errorf("%d bytes of what it wrote", info.Written)
	}
}

// TestMany: there are only so many commands at once, and so many that have ended
// are remembered.
func TestMany(t *testing.T) {
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
	if list, _ := s.List(t.Context()); len(list) != 3 {
		t.Errorf("%d commands", len(list))
	}
}

type ownerKey struct{}

// TestOwners: commands of one owner are not there for another.
func TestOwners(t *testing.T) {
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

// TestOwnersForgotten: many commands of one owner have none of another forgotten.
func TestOwnersForgotten(t *testing.T) {
	s := open(t, &shell.Options{MaxEnded: 4}).With(shell.View{Owner: func(ctx context.Context) any { return ctx.Value(ownerKey{}) }})
	a := context.WithValue(t.Context(), ownerKey{}, "a")
	b := context.WithValue(t.Context(), ownerKey{}, "b")
	run := func(ctx context.Context) shell.ID {
		id, err := s.Start(ctx, "echo done", nil)
		if err == nil {
			_, err = s.Wait(ctx, id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := run(b)
	for range 8 {
		run(a)
	}
	if c, err := s.Output(b, id, 0, 0); string(c.Data) != "done\n" || err != nil {
		t.Errorf("b has %q, %v", c.Data, err)
	}
	if list, _ := s.List(a); len(list) > 4 {
		t.Errorf("a has %d", len(list))
	}
}

// TestRefused: a middleware decides about commands as it does about programs.
func TestRefused(t *testing.T) {
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

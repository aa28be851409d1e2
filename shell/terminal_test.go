package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
	"github.com/toolcell/toolcell/shell/screen"
)

// An echo is an interpreter whose commands are a terminal that shows what is typed, and
// ends with the line exit.
type echo struct{}

func (echo) Languages() []string { return []string{"none"} }
func (echo) Close() error        { return nil }

func (echo) RunCode(context.Context, string, string, *codeinterp.RunOptions) (codeinterp.Result, error) {
	return codeinterp.NotRun(), codeinterp.ErrLanguage
}

func (echo) RunCommand(context.Context, string, *codeinterp.CommandOptions) (codeinterp.Result, error) {
	return codeinterp.NotRun(), codeinterp.ErrUnavailable
}

func (echo) RunTerminal(ctx context.Context, line string, o *codeinterp.TerminalOptions) (codeinterp.Result, error) {
	show := func(text string) {
		_ = o.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(text)})
	}
	if line == "fails" {
		return codeinterp.NotRun(), codeinterp.ErrUnavailable
	}
	show(fmt.Sprintf("%s %dx%d\r\n", line, o.Size.Columns, o.Size.Rows))
	typed := make(chan string)
	go func() {
		b := make([]byte, 100)
		for {
			n, err := o.Input.Read(b)
			if err != nil {
				close(typed)
				return
			}
			typed <- string(b[:n])
		}
	}()
	for {
		select {
		case text := <-typed:
			if text == "exit\r" {
				return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 3}, nil
			}
			show(strings.ReplaceAll(text, "\r", "\r\n"))
		case size := <-o.Resizes:
			show(fmt.Sprintf("now %dx%d\r\n", size.Columns, size.Rows))
		case sig := <-o.Signals:
			return codeinterp.Result{Status: codeinterp.StatusError, ExitCode: 129, Outputs: nil}, errIf(sig != codeinterp.SignalHangup)
		case <-ctx.Done():
			return codeinterp.Result{Status: codeinterp.StatusCanceled}, context.Cause(ctx)
		}
	}
}

func errIf(bad bool) error {
	if bad {
		return errors.New("another signal")
	}
	return nil
}

func TestTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := shell.New(echo{}, &shell.Options{Emulator: screen.New})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx := t.Context()
		id, err := s.StartTerminal(ctx, "edit", &codeinterp.TerminalOptions{Size: codeinterp.TerminalSize{Columns: 30}})
		if err != nil || !s.HasTerminals() {
			t.Fatal(err)
		}
		if _, err := s.Write(ctx, id, []byte("a\x1b[1;1HX"), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st, err := s.Screen(ctx, id); err != nil || st.Text() != "Xdit 30x24\na" || st.Column != 1 || st.Row != 0 {
			t.Errorf("%q at %d, %d, %v", st.Text(), st.Column, st.Row, err)
		}
		if err := s.Resize(ctx, id, codeinterp.TerminalSize{Columns: 50, Rows: 10}); err != nil {
			t.Error(err)
		}
		if err := s.Press(ctx, id, "ctrl-l", "meta-x"); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("an unknown key: %v", err)
		}
		if err := s.Press(ctx, id, "enter", "up"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := s.Write(ctx, id, []byte("exit\r"), nil); err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		var exit *shell.Info
		for e, err := range s.Events(ctx, id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			all.Write(e.Data)
			exit = e.Exit
		}
		if want := "edit 30x24\r\na\x1b[1;1HXnow 50x10\r\n\r\n\x1b[A"; all.String() != want {
			t.Errorf("got %q, want %q", all.String(), want)
		}
		if exit == nil || exit.Running || !exit.Terminal || exit.Result.ExitCode != 3 {
			t.Errorf("got %+v", exit)
		}
		if st, err := s.Screen(ctx, id); err != nil || st.Columns != 50 || len(st.Lines) != 10 {
			t.Errorf("after the end: %+v, %v", st, err)
		}
	})
}

// TestTerminalStops: a terminal ends by a hangup, and what is no terminal has no screen.
func TestTerminalStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := shell.New(echo{}, &shell.Options{Emulator: screen.New})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		id, err := s.StartTerminal(t.Context(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := s.Stop(t.Context(), id); err != nil || info.Err != nil || info.Result.ExitCode != 129 {
			t.Errorf("got %+v, %v", info, err)
		}
		if _, err := s.StartTerminal(t.Context(), "fails", nil); !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if _, err := s.StartTerminal(t.Context(), "", &codeinterp.TerminalOptions{Size: codeinterp.TerminalSize{Rows: -1}}); !errors.Is(err, codeinterp.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Screen(t.Context(), "x"); !errors.Is(err, shell.ErrCommand) {
			t.Errorf("got %v", err)
		}
	})
}

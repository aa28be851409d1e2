package screen_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/examples/internal/screen"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

func output(call string, o codeinterp.Output) workspace.Event {
	return workspace.Event{Type: workspace.TypeOutput, CallID: call, Output: o}
}

func stdout(call, text string) workspace.Event {
	return output(call, codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(text)})
}

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name string
		show func(*screen.Screen)
		want string
	}{
		{"words in parts", func(s *screen.Screen) {
			s.Model("One, ")
			s.Model("two.\nThree")
			s.Model(".")
			s.Note("Well.")
		}, "model One, two.\nmodel Three.\n  * Well.\n"},
		{"no words", func(s *screen.Screen) {
			s.EndLine()
			s.Model("One")
			s.EndLine()
			s.EndLine()
		}, "model One\n"},
		{"words of the user", func(s *screen.Screen) { s.User("a\nb") }, "\nuser  a\n      b\n"},
		{"outputs of two programs", func(s *screen.Screen) {
			s.Call("a", "run", `{"language":"python","code":"1\n2"}`)
			s.Call("b", "run", `not json`)
			s.Event(stdout("a", "begin"))
			s.Event(stdout("b", "x\n"))
			s.Event(stdout("a", "end"))
			s.Event(workspace.Event{Type: workspace.TypeEnd, CallID: "a"})
		}, `  call 1 run
         > {"language":"python"}
         > 1
         > 2
  call 2 run
         > not json
  out 1  | begin
  out 2  | x
  out 1  | end`},
		{"streams apart", func(s *screen.Screen) {
			s.Call("a", "run", `{}`)
			s.Event(stdout("a", "out"))
			s.Event(output("a", codeinterp.Output{Kind: codeinterp.Stderr, Data: []byte("err\n")}))
			s.Event(output("a", codeinterp.Output{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("4\n2")}}}))
		}, "  call 1 run\n  out 1  | out\n  out 1  | err\n  out 1  | = 4\n  out 1  | = 2\n"},
		{"hostile output", func(s *screen.Screen) {
			s.Call("a", "run\x1b[2J", `{"code":"\u001b]0;x\u0007"}`)
			s.Event(stdout("a", "\x1b[2Jgone\x07\u202e\n"))
			s.Event(stdout("a", "\x1b"))
			s.Event(stdout("a", "[31mred\n"))
			s.Model("\x1b[2Jhello\n")
		}, "  call 1 run\n  out 1  | gone\n  out 1  | [31mred\nmodel hello\n"},
		{"pictures", func(s *screen.Screen) {
			s.Call("a", "run", `{}`)
			s.Event(output("a", codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
				{MIME: "image/png", Data: []byte("picture")}, {MIME: "text/plain", Data: []byte("<Figure>")}}}))
			s.Event(output("a", codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
				{MIME: "image/png", Data: []byte("broken")}}}))
			s.Event(output("a", codeinterp.Output{Kind: codeinterp.Display}))
		}, "  call 1 run\n  out 1  | display: image/png, 7 bytes; text/plain, 8 bytes\n  out 1  | <Figure>\n  out 1  | display: image/png, 6 bytes\n  out 1  | display: \n"},
		{"ends", func(s *screen.Screen) {
			for i, r := range []*tools.Answer{
				{Result: &codeinterp.Result{Status: codeinterp.StatusOK, Duration: 1234567}},
				{Result: &codeinterp.Result{Status: codeinterp.StatusTimeout, ExitCode: 124, Duration: time.Second}},
				{Result: &codeinterp.Result{Status: codeinterp.StatusError, Error: &codeinterp.ProgramError{Name: "E", Message: "no\x1b[2J"}, CallbackErr: errors.New("slow")}},
				{Failure: &tools.Failure{Code: "closed", Message: "x"}, Text: `{"error":1}`},
				{Text: `{"ok":true}`},
			} {
				r.CallID = string(rune('a' + i))
				s.Reply(r)
			}
		}, "  end 0  | ok after 1.23ms\n  end 0  | timeout after 1s\n  end 0  | error after 0s: E: no\n  end 0  | not shown: slow\n  end 0  | {\"error\":1}\n  end 0  | {\"ok\":true}\n"},
		{"long programs", func(s *screen.Screen) {
			s.Call("a", "run", `{"code":"`+strings.Repeat(`1\n`, 30)+strings.Repeat("x", 200)+`"}`)
			s.Call("b", "run", strings.Repeat("x", 200))
		}, "  call 1 run\n" + strings.Repeat("         > 1\n", 11) + "         > ... 20 more lines\n" +
			"  call 2 run\n         > " + strings.Repeat("x", 100) + "...\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			tt.show(screen.New(&b))
			if got := b.String(); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

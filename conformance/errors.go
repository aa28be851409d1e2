package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

func errorChecks() []check {
	return []check{
		{
			name: "ErrorNameAndMessage", row: 17, scope: everyRun, uses: func(p *Programs) bool { return p.Fail != nil && p.FailName != "" },
			clause: "Error has the error's name and message, exactly",
			run: func(ctx context.Context, e *env) error {
				for _, msg := range []string{"went wrong", "日本 \"quoted\" 🙂", "two\nlines", "42"} {
					res, err := e.run(ctx, e.p.Fail(msg), nil)
					switch {
					case err != nil:
						return err
					case res.Error == nil:
						return fmt.Errorf("no Error for message %q", msg)
					case res.Error.Name != e.p.FailName:
						return fmt.Errorf("Error.Name %q, want %q", res.Error.Name, e.p.FailName)
					case res.Error.MissingModule != "":
						return fmt.Errorf("Error.MissingModule %q of an error that is no missing module", res.Error.MissingModule)
					}
					must(wantText("Error.Message", res.Error.Message, msg))
				}
				return nil
			},
		},
		{
			name: "ErrorTraceback", row: 17, scope: everyRun, needs: []Feature{Traceback}, proves: Traceback, uses: func(p *Programs) bool { return p.Fail != nil },
			clause: "Traceback is the runtime's own report, line by line, with the error's name and message",
			run: func(ctx context.Context, e *env) error {
				res := need(e.run(ctx, e.p.Fail("went wrong"), nil))
				if res.Error == nil || len(res.Error.Traceback) == 0 {
					return errors.New("no Traceback")
				}
				text := strings.Join(res.Error.Traceback, "\n")
				if !strings.Contains(text, e.p.FailName) || !strings.Contains(text, "went wrong") {
					return fmt.Errorf("traceback %s, want it to say %s and the message", quote(text), e.p.FailName)
				}
				for _, line := range res.Error.Traceback {
					if strings.Contains(line, "\n") {
						return fmt.Errorf("traceback line %q has a newline", line)
					}
				}
				return nil
			},
		},
		{
			name: "ErrorLine", row: 17, scope: everyRun, needs: []Feature{ErrorLine}, proves: ErrorLine, uses: func(p *Programs) bool { return p.Fail != nil },
			clause: "Line is the line of the program, from 1, where the error happened",
			run: func(ctx context.Context, e *env) error {
				comment, pause := e.p.Comment+"\n", e.p.Pause(time.Millisecond)+"\n"
				leads := []string{"", comment, strings.Repeat(comment, 7), comment + pause}
				if e.p.DisplayBundle != "" && !e.s.cfg.lacks(Displays, e.language) {
					leads = append(leads, e.p.DisplayBundle+"\n")
				}
				for _, lead := range leads {
					code, before := lead+e.p.Fail("went wrong"), strings.Count(lead, "\n")
					res := need(e.run(ctx, code, nil))
					if res.Error == nil || res.Error.Line != before+1 {
						return fmt.Errorf("Error %+v, want Line %d", res.Error, before+1)
					}
				}
				return nil
			},
		},
		{
			name: "MissingModule", row: 17, scope: everyRun, needs: []Feature{MissingModule}, proves: MissingModule, uses: func(p *Programs) bool { return p.MissingModule != nil },
			clause: "MissingModule names the module that could not be imported",
			run: func(ctx context.Context, e *env) error {
				const name = "toolcell_no_such_module"
				res := need(e.run(ctx, e.p.MissingModule(name), nil))
				if res.Error == nil || res.Error.MissingModule != name {
					return fmt.Errorf("Error %+v, want MissingModule %q", res.Error, name)
				}
				return nil
			},
		},
	}
}

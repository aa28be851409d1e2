package driver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// A words runtime runs programs of which each word is printed, and "sleep" takes
// a while. A context remembers how many words there were.
type words struct{}

func (words) Describe() codeinterp.Info {
	return codeinterp.Info{Provider: "words", Languages: []codeinterp.LanguageInfo{{Name: "words", Contexts: true}}}
}

func (words) Start(context.Context, driver.Options) (driver.Session, error) {
	return &wordSession{}, nil
}
func (words) Close(context.Context) error { return nil }

type wordSession struct{ count int }

func (s *wordSession) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	p.Begin()
	for word := range strings.FieldsSeq(p.Code) {
		if word == "sleep" {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done(): // the order to end, whatever the reason
				return driver.Outcome{}, nil
			}
		}
		s.count++
		fmt.Fprintln(out.Stream(codeinterp.Stdout), s.count, word)
	}
	return driver.Outcome{}, nil
}

// Interrupt has nothing softer than the end of ctx.
func (s *wordSession) Interrupt(context.Context) error { return errors.ErrUnsupported }

func (s *wordSession) Reset(context.Context) error { s.count = 0; return nil }
func (s *wordSession) Close(context.Context) error { return nil }

// A whole provider.
func Example() {
	ci := driver.NewStateful(words{}, driver.Config{})
	defer ci.Close()
	ctx := context.Background()
	id, err := ci.CreateContext(ctx, "words", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, code := range []string{"hello world", "sleep", "again"} {
		res, err := ci.RunInContext(ctx, id, code, &codeinterp.RunOptions{Timeout: time.Second})
		fmt.Print(res.Stdout())
		fmt.Println(res.Status, res.ExitCode, err)
	}
	// Output:
	// 1 hello
	// 2 world
	// ok 0 <nil>
	// timeout 124 <nil>
	// 3 again
	// ok 0 <nil>
}

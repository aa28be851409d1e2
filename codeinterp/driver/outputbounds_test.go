package driver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// held is what a Result holds of a program's making.
func held(res codeinterp.Result) (n int) {
	for _, o := range res.Outputs {
		n += o.Size() + len(o.DisplayID) + 64
		for _, rep := range o.Bundle {
			n += len(rep.MIME) + 64
		}
	}
	if e := res.Error; e != nil {
		n += len(e.Name) + len(e.Message) + len(e.MissingModule)
		for _, lines := range [][]string{e.Traceback, e.RawTraceback} {
			for _, l := range lines {
				n += len(l) + 16
			}
		}
	}
	return n
}

// TestBounds: whatever a program makes up, a Result stays within MaxOutput and
// Overhead, and says what is lost.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	show := func(id string, bundle ...codeinterp.Representation) codeinterp.Output {
		return codeinterp.Output{Kind: codeinterp.Display, DisplayID: id, Bundle: bundle}
	}
	for _, tt := range []struct {
		name, stream string
		do           func(c *driver.Output, res *codeinterp.Result)
	}{
		{"long ids", "display", func(c *driver.Output, _ *codeinterp.Result) {
			for i := range 20 {
				c.Add(show(fmt.Sprint(i, long), codeinterp.Representation{MIME: "text/plain"}))
			}
		}},
		{"many representations", "display", func(c *driver.Output, _ *codeinterp.Result) {
			c.Add(show("", make([]codeinterp.Representation, 1<<20)...))
		}},
		{"metadata", "display", func(c *driver.Output, _ *codeinterp.Result) {
			o := show("", codeinterp.Representation{MIME: "text/plain"})
			o.Metadata = []byte(`"` + long + `"`)
			c.Add(o)
		}},
		{"an update that is larger", "display", func(c *driver.Output, _ *codeinterp.Result) {
			c.Add(show("a", codeinterp.Representation{MIME: "text/plain"}))
			o := show("a", codeinterp.Representation{MIME: "text/plain", Data: []byte(long)})
			o.Update = true
			c.Add(o)
		}},
		{"a value of many types", "result", func(c *driver.Output, _ *codeinterp.Result) {
			c.Add(codeinterp.Output{Kind: codeinterp.Value, Bundle: make([]codeinterp.Representation, 1<<20)})
		}},
		{"a long message", "error", func(_ *driver.Output, res *codeinterp.Result) {
			res.Error = &codeinterp.ProgramError{Name: long, Message: long, MissingModule: long}
		}},
		{"a long traceback", "error", func(_ *driver.Output, res *codeinterp.Result) {
			res.Error = &codeinterp.ProgramError{Name: "E", Traceback: strings.Split(strings.Repeat("line\n", 1<<18), "\n"), RawTraceback: []string{"first", long, "last"}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const most = 1000
			c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: most})
			var res codeinterp.Result
			tt.do(c, &res)
			before := res.Error
			c.Finish(&res)
			if n := held(res); n > most+codeinterp.OutputOverhead/4 {
				t.Errorf("%d bytes held", n)
			}
			if len(res.Truncated) != 1 || res.Truncated[0].Stream != tt.stream || res.Truncated[0].Kept >= res.Truncated[0].Bytes {
				t.Errorf("%+v", res.Truncated)
			}
			if before != nil && before == res.Error {
				t.Error("the caller's error was changed, or not cut")
			}
			if e := res.Error; e != nil && slices.ContainsFunc(slices.Concat([]string{e.Name, e.Message, e.MissingModule}, e.Traceback, e.RawTraceback),
				func(s string) bool { return unsafe.StringData(s) == unsafe.StringData(long) }) {
				t.Error("the Result holds all of a text that was cut")
			}
		})
	}
}

// TestLostBefore: what was dropped before it came here counts.
func TestLostBefore(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	lost := codeinterp.Truncation{Stream: "stdout", Bytes: 70, Kept: 20, Reason: codeinterp.TruncatedByLimit}
	c.Write(codeinterp.Stdout, make([]byte, 20))
	c.Lost(lost)
	c.Lost(lost)
	if res := finish(c); len(res.Truncated) != 1 || res.Truncated[0].Bytes != 120 || res.Truncated[0].Kept != 20 {
		t.Errorf("%+v", res.Truncated)
	}
}

// TestUnmute: OnOutput is called again, one call at a time.
func TestUnmute(t *testing.T) {
	release := make(chan struct{})
	inside, seen := 0, ""
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(o codeinterp.Output) error {
		if inside++; inside > 1 {
			t.Error("two calls at once")
		}
		defer func() { inside-- }()
		if seen == "" {
			<-release
		}
		seen += o.Text()
		return nil
	}})
	wrote := make(chan struct{})
	go func() { c.Write(codeinterp.Stdout, []byte("a")); close(wrote) }()
	c.Mute()
	<-wrote
	c.Unmute()
	go close(release)
	c.Write(codeinterp.Stdout, []byte("b"))
	if res := finish(c); !strings.HasSuffix("ab", seen) || res.Stdout() != "ab" {
		t.Errorf("seen %q, kept %q, %v", seen, res.Stdout(), res.CallbackErr)
	}
}

// TestMayLack: where it is unknown what is missing, every kind says so, with what is
// kept of it.
func TestMayLack(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 100})
	c.Write(codeinterp.Stdout, []byte("kept"))
	c.MayLack(codeinterp.TruncatedByConnection)
	c.MayLack(codeinterp.TruncatedByConnection, codeinterp.Stderr)
	var res codeinterp.Result
	c.Finish(&res)
	want := []codeinterp.Truncation{
		{Stream: "stdout", Bytes: -1, Kept: 4, Reason: codeinterp.TruncatedByConnection},
		{Stream: "stderr", Bytes: -1, Reason: codeinterp.TruncatedByConnection},
		{Stream: "display", Bytes: -1, Reason: codeinterp.TruncatedByConnection},
		{Stream: "result", Bytes: -1, Reason: codeinterp.TruncatedByConnection},
	}
	if !slices.Equal(res.Truncated, want) {
		t.Errorf("got %+v, want %+v", res.Truncated, want)
	}
}

// TestRelay: with Config.Relay a Result has no outputs, and says what was lost before; OnOutput
// gets all, also while the run is being stopped.
func TestRelay(t *testing.T) { synctest.Test(t, relay) }

func relay(t *testing.T) {
	run := func(ctx context.Context, _ *fakeSession, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
		p.Begin()
		for range 2 {
			out.Lost(codeinterp.Truncation{Stream: "stdout", Bytes: 10, Kept: 4, Reason: codeinterp.TruncatedByLimit})
		}
		<-ctx.Done()
		out.Write(codeinterp.Stdout, []byte("last"))
		return driver.Outcome{Lost: true}, nil
	}
	ci := driver.NewStateful(&fake{programs: map[string]program{"wait": run}}, driver.Config{Relay: true, Grace: time.Millisecond})
	defer ci.Close()
	var got string
	res, err := ci.RunInContext(t.Context(), create(t, ci), "wait", &codeinterp.RunOptions{Timeout: time.Millisecond, OnOutput: func(o codeinterp.Output) error {
		got += o.Text()
		return nil
	}})
	want := codeinterp.Truncation{Stream: "stdout", Bytes: 12, Reason: codeinterp.TruncatedByLimit}
	if err != nil || got != "last" || res.CallbackErr != nil || len(res.Outputs) > 0 || len(res.Truncated) != 1 || res.Truncated[0] != want {
		t.Errorf("%q, %+v, %v", got, res, err)
	}
}

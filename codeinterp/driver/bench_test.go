package driver_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

func runtimeGoexit() { runtime.Goexit() }

// BenchmarkRun is what the driver adds to a program that does nothing.
func BenchmarkRun(b *testing.B) {
	empty := map[string]program{"": func(_ context.Context, _ *fakeSession, p *driver.Program, _ *driver.Output) (driver.Outcome, error) {
		p.Begin()
		return driver.Outcome{}, nil
	}}
	ci := driver.NewStateful(&fake{programs: empty}, driver.Config{})
	defer ci.Close()
	id, err := ci.CreateContext(b.Context(), "fake", nil)
	if err != nil {
		b.Fatal(err)
	}
	cancelable, cancel := context.WithCancel(b.Context())
	defer cancel()
	for _, bm := range []struct {
		name string
		run  func() (codeinterp.Result, error)
	}{
		{"context", func() (codeinterp.Result, error) { return ci.RunInContext(context.Background(), id, "", nil) }},
		{"timeout", func() (codeinterp.Result, error) {
			return ci.RunInContext(cancelable, id, "", &codeinterp.RunOptions{Timeout: time.Minute})
		}},
		{"once", func() (codeinterp.Result, error) { return ci.RunCode(context.Background(), "fake", "", nil) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := bm.run(); !res.OK() {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id, _ := ci.CreateContext(context.Background(), "fake", nil)
			if err := ci.DeleteContext(context.Background(), id); err != nil {
				b.Fatal(err)
			}
		}
	})
}

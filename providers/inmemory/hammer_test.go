//go:build full

package inmemory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
)

// A hammer has many callers run tiny programs at once, in contexts and without,
// and checks that each gets what its own program printed and came to.
type hammer struct {
	s     *inmemory.Stateful
	runs  atomic.Int64 // done so far
	limit int64
	wrong atomic.Int64
}

// An echo is an engine whose programs print themselves and are their own value.
// It takes next to no time, so that runs end and begin at the same moment.
type echo struct{ *toy }

type echoInstance struct{ engine.Instance }

func (e echo) New(c engine.Config) (engine.Instance, error) {
	inst, err := e.toy.New(c)
	return echoInstance{inst}, err
}

func (i echoInstance) Run(ctx context.Context, p engine.Program, h engine.Host) engine.Outcome {
	h.Write(codeinterp.Stdout, []byte("out "+p.Code))
	h.Write(codeinterp.Stderr, []byte("err "+p.Code))
	if strings.HasPrefix(p.Code, "stopped") {
		<-ctx.Done()
		return engine.Outcome{Stopped: true}
	}
	value := codeinterp.Output{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{
		{MIME: "text/plain", Data: []byte(p.Code)}}}
	return engine.Outcome{Value: &value}
}

// program is what prints, and comes to, the tag. Where endless is true it does
// not end by itself.
func program(language, tag string, endless bool) (code string) {
	if language == "toy" {
		return tag
	}
	code = fmt.Sprintf("process.stdout.write('out %[1]s'); process.stderr.write('err %[1]s'); ", tag)
	if endless {
		return code + "for (;;);"
	}
	return code + fmt.Sprintf("process.stdout.write(''), %q", tag)
}

// A result belongs to the run that produced it.
func TestHammer(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	s := open(t, &inmemory.Options{Engines: []engine.Engine{echo{newToy()}, quickjs.New(nil)}, MaxMemory: 4 << 30, MaxRunning: 8})
	for language, runs := range map[string]int64{"toy": 60_000, "javascript": 10_000} {
		if race.Enabled || testing.Short() {
			runs /= 25
		}
		t.Run(language, func(t *testing.T) {
			h := &hammer{s: s, limit: runs}
			var callers sync.WaitGroup
			for n := range 24 {
				callers.Go(func() { h.call(t, language, n) })
			}
			callers.Wait()
			if n := h.wrong.Load(); n > 0 {
				t.Errorf("%d of %d callers did not get what their own program printed and came to", n, runs)
			}
		})
	}
}

// call is one caller: every third has no context.
func (h *hammer) call(t *testing.T, language string, n int) {
	var id codeinterp.ContextID
	if n%3 > 0 {
		id = create(t, h.s, language)
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for k := 0; h.runs.Add(1) <= h.limit; k++ {
		tag := fmt.Sprintf("caller %d run %d", n, k)
		var err error
		switch stop := rng.IntN(400); stop {
		case 0, 1:
			err = h.stopped(language, id, "stopped "+tag, stop == 0)
		default:
			err = h.ended(language, id, tag)
		}
		if err != nil && h.wrong.Add(1) < 5 {
			t.Errorf("%s: %v", tag, err)
		}
	}
}

func (h *hammer) run(ctx context.Context, language string, id codeinterp.ContextID, code string, o *codeinterp.RunOptions) (codeinterp.Result, error) {
	if id == "" {
		return h.s.RunCode(ctx, language, code, o)
	}
	return h.s.RunInContext(ctx, id, code, o)
}

// ended runs a program that ends by itself.
func (h *hammer) ended(language string, id codeinterp.ContextID, tag string) error {
	res, err := h.run(context.Background(), language, id, program(language, tag, false), nil)
	if err != nil || !res.OK() || res.StateLost || res.Text() != tag {
		return fmt.Errorf("got %v, state lost %v, %q, error %v %v", res.Status, res.StateLost, res.Text(), res.Error, err)
	}
	return printed(res, tag)
}

// stopped runs a program that its timeout, or its ctx, ends.
func (h *hammer) stopped(language string, id codeinterp.ContextID, tag string, cancel bool) error {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	o, want := &codeinterp.RunOptions{Timeout: 2 * time.Millisecond}, codeinterp.StatusTimeout
	if cancel {
		o, want = nil, codeinterp.StatusCanceled
		time.AfterFunc(2*time.Millisecond, end)
	}
	res, err := h.run(ctx, language, id, program(language, tag, true), o)
	if cancel && errors.Is(err, context.Canceled) && res.Status == codeinterp.StatusNotRun {
		return nil // it waited for its turn for so long
	}
	if res.Status != want || cancel != (err != nil) {
		return fmt.Errorf("got %v, error %v %v; want %v", res.Status, res.Error, err, want)
	}
	if res.Stdout() == "" || res.Stderr() == "" { // stopped before it printed
		return nil
	}
	return printed(res, tag)
}

func printed(res codeinterp.Result, tag string) error {
	if res.Stdout() != "out "+tag || res.Stderr() != "err "+tag {
		return fmt.Errorf("printed %q and %q", res.Stdout(), res.Stderr())
	}
	return nil
}

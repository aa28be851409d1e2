//go:build linux

package jupyter_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/race"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// scenariosEnv is how many runs TestScenarios makes, seedEnv their seed.
const (
	scenariosEnv = "TOOLCELL_JUPYTER_SCENARIOS"
	seedEnv      = "TOOLCELL_JUPYTER_SEED"
)

// A scenario runs programs on a real server through faults. The programs write
// what they do to files beside the server, which is the truth that Results are
// compared with.
type scenario struct {
	t     *testing.T
	rnd   *rand.Rand
	s     *server
	proxy *faultProxy
	ci    *jupyter.Stateful
	id    codeinterp.ContextID
	pid   int // of the kernel

	outage int // ms that one lasts at most

	next     []int // what the next program may find itself to be, if no loss is told
	lastFile string
	tally    map[string]int
	most     int           // requests in one window
	latest   time.Duration // return after a ctx
}

const (
	// lateness is how long after its ctx a call may return.
	lateness = 5 * time.Second

	// In each window there are two requests a second at most, and the first
	// tries after a loss, which follow each other faster.
	window = 5 * time.Second
	burst  = 5
)

// stall measures, until it is asked, for how long this process was kept from
// running: what other processes take is no fault of ours.
func stall() (stop func() time.Duration) {
	const tick = 20 * time.Millisecond
	done, total := make(chan struct{}), make(chan time.Duration)
	go func() {
		var sum time.Duration
		for last := time.Now(); ; {
			select {
			case <-time.After(tick):
			case <-done:
				total <- sum
				return
			}
			now := time.Now()
			if late := now.Sub(last) - 2*tick; late > 0 {
				sum += late
			}
			last = now
		}
	}()
	return func() time.Duration { close(done); return <-total }
}

const scenarioProgram = `
import os, time
n = globals().get("n", 0) + 1
truth = open(%[1]q, "a", buffering=1)
truth.write("pid %%d\nn %%d\n" %% (os.getpid(), n))
for i in range(%[2]d):
    print("line", i, flush=True)
    truth.write("line %%d\n" %% i)
    time.sleep(%[3]g)
truth.write("end\n")
%[4]s
`

// TestScenarios wants no wrong status, no loss or lost state untold, no program
// that runs on untold, no request storm and no late return, whatever happens.
func TestScenarios(t *testing.T) {
	t.Parallel()
	runs, outage, seed := race.Short(5, 2), 20_000, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv(scenariosEnv)); err == nil {
		runs, outage = n, 60_000
	}
	if n, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%s=%d %s=%d", scenariosEnv, runs, seedEnv, seed)
	sc := &scenario{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), s: ownServer(t, "server6"), tally: map[string]int{}, next: []int{1}, outage: outage}
	u, err := url.Parse(sc.s.url)
	if err != nil {
		t.Fatal(err)
	}
	sc.proxy = newFaultProxy(t, u.Host)
	behind := *sc.s
	behind.url = strings.Replace(sc.s.url, u.Host, sc.proxy.address(), 1)
	if sc.ci, err = open(t.Context(), &behind, jupyter.Options{ReconnectTimeout: 8 * time.Second}); err != nil {
		t.Fatal(err)
	}
	defer sc.ci.Close()
	if sc.id, err = sc.ci.CreateContext(t.Context(), "python", nil); err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		sc.run(i)
		if t.Failed() {
			t.Fatalf("at run %d", i)
		}
	}
	t.Logf("%v; at most %d requests in %v; the latest return %v after its ctx", sc.tally, sc.most, window, sc.latest)
}

// faults are what can happen during a run. Each undoes itself.
func (sc *scenario) faults() map[string]func() {
	p, pid, some := sc.proxy, sc.pid, func(low, high int) time.Duration {
		return time.Duration(low+sc.rnd.IntN(high-low)) * time.Millisecond
	}
	stop := func(pid int, d time.Duration) {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		time.Sleep(d)
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	pause, twice, out, freeze := some(200, 2500), some(100, 1500), some(5000, sc.outage), some(3000, 15000)
	return map[string]func(){
		"none": func() {},
		"cut":  p.cut,
		"cuts": func() { p.cut(); time.Sleep(twice); p.cut() },
		"swallow": func() {
			p.set(func() { p.swallow = true })
			time.Sleep(pause)
			p.set(func() { p.swallow = false })
			p.cut()
		},
		"deaf": p.deafen,
		"outage": func() {
			p.set(func() { p.refuse = true })
			p.cut()
			time.Sleep(out)
			p.set(func() { p.refuse = false })
		},
		"server": func() { stop(sc.s.cmd.Process.Pid, freeze) },
		"kernel": func() {
			if pid > 0 {
				stop(pid, freeze)
			}
		},
		"slow": func() { p.set(func() { p.rate = 20 << 10 }); time.Sleep(pause); p.set(func() { p.rate = 0 }) },
	}
}

func (sc *scenario) run(i int) {
	names := []string{"none", "cut", "cuts", "swallow", "deaf", "outage", "server", "kernel", "slow"}
	name := names[sc.rnd.IntN(len(names))]
	fault := sc.faults()[name]
	tail := []string{"print('end')", "raise ValueError('boom')", "raise SystemExit(3)"}[sc.rnd.IntN(3)]
	file := filepath.Join(sc.s.dir, fmt.Sprintf("truth-%d", i))
	lines := 20 + sc.rnd.IntN(200)
	code := fmt.Sprintf(scenarioProgram, file, lines, float64(1+sc.rnd.IntN(30))/1000, tail)
	opts := &codeinterp.RunOptions{}
	if sc.rnd.IntN(3) == 0 {
		opts.Timeout = time.Duration(500+sc.rnd.IntN(8000)) * time.Millisecond
	}
	const limit = 25 * time.Second
	ctx, cancel := context.WithTimeout(sc.t.Context(), limit)
	defer cancel()
	wait, done := time.Duration(sc.rnd.IntN(2500))*time.Millisecond, make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(wait)
		fault()
	}()
	start, stalled := time.Now(), stall()
	res, err := sc.ci.RunInContext(ctx, sc.id, code, opts)
	took := time.Since(start)
	stood := stalled()
	story := fmt.Sprintf("run %d, %s after %v, timeout %v, %d lines, %q: %s, exit %d, cause %q, lost %t, truncated %v, %v, after %v",
		i, name, wait, opts.Timeout, lines, tail, res.Status, res.ExitCode, res.Cause, res.StateLost, res.Truncated, err, took)
	sc.tally[name+" "+string(res.Status)]++
	if took > limit+lateness+10*stood {
		sc.t.Errorf("late, and stalled for %v: %s", stood, story)
	}
	many := sc.proxy.busiest(start, window)
	if sc.most = max(sc.most, len(many)); len(many) > 2*int(window/time.Second)+burst {
		sc.t.Errorf("%d requests in %v: %s", len(many), window, story)
		for _, r := range many {
			sc.t.Logf("%v %s", r.at.Sub(start), r.what)
		}
	}
	sc.latest = max(sc.latest, took-limit)
	sc.check(story, file, tail, res, err)
	<-done
}

// A truth is what a program wrote of itself.
type truth struct {
	n, lines int
	ended    bool
	size     int
}

func (sc *scenario) truth(file string) (tr truth) {
	data, _ := os.ReadFile(file)
	tr.size = len(data)
	for line := range strings.Lines(string(data)) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "pid":
			sc.pid, _ = strconv.Atoi(rest)
		case "n":
			tr.n, _ = strconv.Atoi(rest)
		case "line":
			tr.lines++
		case "end":
			tr.ended = true
		}
	}
	return tr
}

// check compares a Result with the truth.
func (sc *scenario) check(story, file, tail string, res codeinterp.Result, err error) {
	if sc.lastFile != "" && res.Status != codeinterp.StatusNotRun {
		// What was left of the last program was ended before this one began.
		before := sc.truth(sc.lastFile).size
		time.Sleep(200 * time.Millisecond)
		if after := sc.truth(sc.lastFile).size; after != before {
			sc.t.Errorf("the program before runs on: %s", story)
		}
	}
	tr := sc.truth(file)
	unknown := errors.Is(err, codeinterp.ErrUnavailable)
	switch res.Status {
	case codeinterp.StatusNotRun:
		if tr.size > 0 || err == nil {
			sc.t.Errorf("it ran: %s", story)
		}
		return
	case codeinterp.StatusOK:
		if !tr.ended || tail != "print('end')" || res.ExitCode != 0 {
			sc.t.Errorf("not ok: %+v %s", tr, story)
		}
	case codeinterp.StatusError:
		if !tr.ended || tail == "print('end')" || (res.Error == nil) != strings.Contains(tail, "3") || (res.ExitCode == 3) != strings.Contains(tail, "3") {
			sc.t.Errorf("no such error: %+v %s", tr, story)
		}
	case codeinterp.StatusLost:
		if !res.StateLost && !unknown {
			sc.t.Errorf("lost without a reason: %s", story)
		}
	}
	if !unknown {
		time.Sleep(100 * time.Millisecond)
		if after := sc.truth(file); after.size != tr.size {
			sc.t.Errorf("it runs on untold: %s", story)
		}
	}
	sc.checkOutput(story, tr, res)
	sc.checkState(story, tr, res)
	sc.lastFile = file
}

func (sc *scenario) checkOutput(story string, tr truth, res codeinterp.Result) {
	seen := map[string]int{}
	for line := range strings.Lines(res.Stdout()) {
		if seen[line]++; seen[line] > 1 {
			sc.t.Errorf("%q twice: %s", line, story)
		}
	}
	got := 0
	for line := range seen {
		if strings.HasPrefix(line, "line ") {
			got++
		}
	}
	ended := res.Status == codeinterp.StatusOK || res.Status == codeinterp.StatusError
	if ended && got < tr.lines && len(res.Truncated) == 0 {
		sc.t.Errorf("%d of %d lines, untold: %s", got, tr.lines, story)
	}
}

// checkState compares how many programs the state has seen with what the
// Results told of it.
func (sc *scenario) checkState(story string, tr truth, res codeinterp.Result) {
	if tr.n > 0 && !slices.Contains(sc.next, tr.n) && !res.StateLost {
		sc.t.Errorf("the state has seen %d programs, not one of %v, untold: %s", tr.n, sc.next, story)
	}
	ended := res.Status == codeinterp.StatusOK || res.Status == codeinterp.StatusError
	before := sc.next
	sc.next = nil
	if tr.n > 0 {
		sc.next = append(sc.next, tr.n+1)
	} else {
		for _, n := range before { // it may have begun, or not
			sc.next = append(sc.next, n, n+1)
		}
	}
	if res.StateLost && !ended {
		sc.next = append(sc.next, 1)
	}
}

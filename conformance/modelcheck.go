package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

func modelChecks() []check {
	return []check{
		{
			name: "GeneratedPrograms", scope: everyRun,
			clause: "a Result is what the program made, byte by byte and in order, with an OnOutput and without: every stream, display, value and error of it, and nothing else",
			run:    generatedPrograms,
		},
	}
}

// How long programs are made at random, after the fixed ones.
const (
	randomTime = time.Second
	randomRuns = 60
)

func generatedPrograms(ctx context.Context, e *env) error {
	seed := e.s.cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	a := e.alphabet()
	for _, g := range a.fixed() {
		if err := e.tryGenerated(ctx, g); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	end := time.Now().Add(randomTime)
	// Three at least, however busy the machine is.
	for n := 0; n < randomRuns && (n < 3 || time.Now().Before(end)); n++ {
		if err := e.tryGenerated(ctx, a.random(r)); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// tryGenerated runs a program and compares. Where it fails, the smallest
// program that fails too is reported.
func (e *env) tryGenerated(ctx context.Context, g generated) error {
	err := e.asModeled(ctx, g)
	if err == nil || ctx.Err() != nil {
		return err
	}
	small := shrink(g, func(g generated) bool {
		again := e.asModeled(ctx, g)
		if again != nil && ctx.Err() == nil {
			// The failure of the reported program.
			err = again
			return true
		}
		return false
	})
	return fmt.Errorf("the program {%s}: %w", small, err)
}

// gaps are how long a program waits between outputs of several kinds. A
// provider that reads each by a way of its own may mix up what is closer; what
// it mixes up at any distance is a failure.
var gaps = []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 2 * time.Second}

// asModeled runs a program and compares its Result with the model's.
func (e *env) asModeled(ctx context.Context, g generated) error {
	where := group{e.language, e.way}
	for first := e.s.gap[where]; ; first++ {
		code, line := g.code(e.p, gaps[first])
		opts := &codeinterp.RunOptions{} // a watch puts an OnOutput into options
		if g.unseen {
			opts = nil
		}
		res, err := e.run(ctx, code, opts)
		if err != nil {
			return fmt.Errorf("error %w, want none (%s)", err, describe(res))
		}
		err = e.compare(res, g.model(e.p, line), g.end.exited)
		if err == nil || !errors.Is(err, errOrder) || first == len(gaps)-1 || !g.mixed() {
			return err
		}
		// What needed a distance once needs it again, but for the longer
		// ones, which a busy machine is to blame for.
		e.s.gap[where] = min(first+1, 1)
	}
}

// mixed reports whether the program has output of several kinds.
func (g generated) mixed() bool {
	for _, s := range g.steps {
		if s.kind != g.steps[0].kind {
			return true
		}
	}
	return false
}

// shrink returns the smallest program it finds that still fails.
func shrink(g generated, fails func(generated) bool) generated {
	// Each is a run, and the case has to end in time.
	for tries := 0; tries < 80; {
		smaller := false
		for _, next := range g.smaller() {
			if tries++; fails(next) {
				g, smaller = next, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return g
}

// smaller lists programs that are a little smaller, those with fewer steps
// first.
func (g generated) smaller() []generated {
	var list []generated
	for i := range g.steps {
		list = append(list, generated{append(append([]step(nil), g.steps[:i]...), g.steps[i+1:]...), g.end, g.unseen})
	}
	if g.end != (programEnd{}) {
		list = append(list, generated{g.steps, programEnd{}, g.unseen})
	}
	for i, s := range g.steps {
		for _, next := range s.smaller() {
			steps := append([]step(nil), g.steps...)
			steps[i] = next
			list = append(list, generated{steps, g.end, g.unseen})
		}
	}
	return list
}

func (s step) smaller() []step {
	var list []step
	with := func(change func(*step)) {
		next := s
		change(&next)
		list = append(list, next)
	}
	if s.times > 1 {
		with(func(n *step) { n.times /= 2 })
		with(func(n *step) { n.times-- })
	}
	if runes := []rune(s.text); len(runes) > 1 {
		with(func(n *step) { n.text = string(runes[:len(runes)/2]) })
		with(func(n *step) { n.text = string(runes[len(runes)/2:]) })
	}
	for i := range s.bundle {
		if s.bundle[i].MIME != "text/plain" {
			with(func(n *step) {
				n.bundle = append(append([]codeinterp.Representation(nil), s.bundle[:i]...), s.bundle[i+1:]...)
			})
		}
	}
	return list
}

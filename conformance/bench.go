package conformance

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// RunBenchmarks measures what callers wait for, per language: a run in a fresh
// state, a context's whole life, a run in a context, streaming, and contexts
// that run at once. Times include everything between the call and its return.
func RunBenchmarks(b *testing.B, cfg Config) {
	b.Helper()
	s, err := newSuite(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			b.Error(err)
		}
	}()
	for _, language := range s.languages {
		p := s.programs[language]
		x := bench{s.shared, language, &p}
		b.Run(language+"/RunCode", x.runCode)
		b.Run(language+"/Stream", x.stream)
		if !cfg.Stateful {
			continue
		}
		b.Run(language+"/RunInContext", x.runInContext)
		b.Run(language+"/ContextLife", x.contextLife)
		b.Run(language+"/ContextsParallel", x.contextsParallel)
	}
}

// A bench measures one language.
type bench struct {
	ci       codeinterp.CodeInterpreter
	language string
	p        *Programs
}

// code is a small program: the value of 1 + 1, or nothing.
func (x bench) code() string {
	if len(x.p.Values) > 0 {
		return x.p.Values[0].Code
	}
	return x.p.Comment
}

func (x bench) stateful(b *testing.B) codeinterp.StatefulInterpreter {
	st, ok := codeinterp.Stateful(x.ci)
	if !ok {
		b.Fatalf("%T is no StatefulInterpreter", x.ci)
	}
	return st
}

func (x bench) create(b *testing.B) codeinterp.ContextID {
	id, err := x.stateful(b).CreateContext(b.Context(), x.language, nil)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func (x bench) remove(b *testing.B, id codeinterp.ContextID) {
	if err := x.stateful(b).DeleteContext(b.Context(), id); err != nil {
		b.Fatal(err)
	}
}

func (x bench) in(b *testing.B, id codeinterp.ContextID) {
	if err := wantOK(x.stateful(b).RunInContext(b.Context(), id, x.code(), nil)); err != nil {
		b.Fatal(err)
	}
}

func (x bench) runCode(b *testing.B) {
	for b.Loop() {
		if err := wantOK(x.ci.RunCode(b.Context(), x.language, x.code(), nil)); err != nil {
			b.Fatal(err)
		}
	}
}

func (x bench) runInContext(b *testing.B) {
	id := x.create(b)
	x.in(b, id)
	for b.Loop() {
		x.in(b, id)
	}
	x.remove(b, id)
}

func (x bench) contextLife(b *testing.B) {
	for b.Loop() {
		id := x.create(b)
		x.in(b, id)
		x.remove(b, id)
	}
}

// stream prints 8 MB, of which 1 MiB is kept.
func (x bench) stream(b *testing.B) {
	if x.p.Lines == nil {
		b.Skip("no program for this in " + x.language)
	}
	const n = 1 << 20
	b.SetBytes(8 * n)
	for b.Loop() {
		opts := &codeinterp.RunOptions{MaxOutput: 1 << 20, OnOutput: func(codeinterp.Output) error { return nil }}
		if err := wantOK(x.ci.RunCode(b.Context(), x.language, x.p.Lines(n), opts)); err != nil {
			b.Fatal(err)
		}
	}
}

// contextsParallel reports the time per run with four contexts that wait 10 ms
// in each run: 2.5 ms and the provider's own cost.
func (x bench) contextsParallel(b *testing.B) {
	const contexts = 4
	ids := make(chan codeinterp.ContextID, contexts)
	for range contexts {
		ids <- x.create(b)
	}
	code := x.p.Pause(10 * time.Millisecond)
	b.SetParallelism(contexts)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := <-ids
			err := wantOK(x.stateful(b).RunInContext(b.Context(), id, code, nil))
			ids <- id
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	for range contexts {
		x.remove(b, <-ids)
	}
}

package driver

import (
	"github.com/toolcell/toolcell/codeinterp"
)

// maxLate bounds the output that a context keeps between two runs.
const maxLate = 1 << 20

// A late is output that came while there was no run: its head and its tail. The
// zero value is empty.
type late struct{ c *Output }

func (l *late) empty() bool { return l.c == nil }

func (l *late) collector() *Output {
	if l.c == nil {
		l.c = NewOutput(&codeinterp.RunOptions{MaxOutput: maxLate})
	}
	return l.c
}

// add keeps o. A clear has nothing to clear: what it means was shown before.
func (l *late) add(o codeinterp.Output) {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		l.collector().Write(o.Kind, o.Data)
	case codeinterp.Display, codeinterp.Value:
		l.collector().Add(o)
	}
}

// take returns what was kept, and keeps nothing any more.
func (l *late) take() (res codeinterp.Result) {
	if l.empty() {
		return res
	}
	l.c.Finish(&res)
	l.c = nil
	for i := range res.Outputs {
		res.Outputs[i].Late = true
	}
	return res
}

// putBack keeps again what was taken, before what came since.
func (l *late) putBack(taken *codeinterp.Result) {
	if taken == nil || len(taken.Outputs)+len(taken.Truncated) == 0 {
		return
	}
	since := l.take()
	for _, res := range []codeinterp.Result{*taken, since} {
		for _, o := range res.Outputs {
			l.add(o)
		}
		for _, t := range res.Truncated {
			l.collector().Lost(t)
		}
	}
}

// keepLate is Options.Late.
func (s *slot) keepLate(o codeinterp.Output) {
	if s.opts.Once {
		return // there is no next run
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late.add(o)
}

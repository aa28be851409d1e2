package driver

import (
	"github.com/toolcell/toolcell/codeinterp"
)

// maxLate bounds the output that a context keeps between two runs.
const maxLate = 1 << 20

// A lateOutput is output that came between two runs, bounded to a head and a tail. The
// zero value is empty.
type lateOutput struct{ c *Output }

func (l *lateOutput) empty() bool { return l.c == nil }

func (l *lateOutput) collector() *Output {
	if l.c == nil {
		l.c = NewOutput(&codeinterp.RunOptions{MaxOutput: maxLate})
	}
	return l.c
}

// add keeps o. It ignores clears, whose output was shown before.
func (l *lateOutput) add(o codeinterp.Output) {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		l.collector().Write(o.Kind, o.Data)
	case codeinterp.Display, codeinterp.Value:
		l.collector().Add(o)
	}
}

// take returns and removes all output.
func (l *lateOutput) take() (res codeinterp.Result) {
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

// putBack restores what was taken, before what came since.
func (l *lateOutput) putBack(taken *codeinterp.Result) {
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

// keepLate implements Options.Late.
func (s *slot) keepLate(o codeinterp.Output) {
	if s.opts.Once {
		return // there is no next run
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late.add(o)
}

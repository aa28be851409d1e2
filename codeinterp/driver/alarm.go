package driver

import (
	"sync/atomic"
	"time"
)

// An alarm wakes the run in progress at its deadline, or before. It stays set for the runs
// that follow, whose deadlines are later: to set it for each would take longer than to hand
// a small program over. Its methods are called by the holder of the turn.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero if it is not set
	fired atomic.Bool
}

// set makes the alarm wake the run in progress at a time, or before.
func (a *alarm) set(at time.Time, s *slot) {
	a.rang()
	switch {
	case !a.at.IsZero() && !a.at.After(at):
		return
	case a.timer == nil:
		a.timer = time.AfterFunc(time.Until(at), func() {
			a.fired.Store(true)
			s.wakeRun()
		})
	default:
		a.timer.Reset(time.Until(at))
	}
	a.at = at
}

// rang reports whether the alarm has woken a run since it was last asked.
func (a *alarm) rang() bool {
	if !a.fired.Load() || !a.fired.Swap(false) {
		return false
	}
	a.at = time.Time{}
	return true
}

// stop ends the alarm.
func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

package kernel

import (
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// TestProcess plays what can become of a kernel's process.
func TestProcess(t *testing.T) {
	type step = func(k *Kernel)
	prepared := func(k *Kernel) { k.noteIdentity("a"); k.notePrepared(&plainDialect); k.noteFurnished() }
	ran := func(k *Kernel) { k.countProgram() }
	died := func(k *Kernel) { k.noteEnd(lost, codeinterp.CauseExit) }
	answered := func(name string) step { return func(k *Kernel) { k.noteIdentity(name) } }
	cases := []struct {
		name  string
		steps []step
		want  process
		fresh bool
	}{
		{"new", nil, unprepared, true},
		{"ready", []step{prepared}, furnished, true},
		{"ran", []step{prepared, ran}, furnished, false},
		{"the same answers", []step{prepared, ran, answered("a")}, furnished, false},
		{"another answers", []step{prepared, ran, answered("b")}, unprepared, true},
		{"it signs with our name", []step{prepared, ran, func(k *Kernel) { k.noteIdentity(k.name) }}, furnished, false},
		{"died", []step{prepared, ran, died}, lost, true},
		{"died, another answers", []step{prepared, ran, died, answered("b")}, unprepared, true},
		{"a process says that it begins", []step{prepared, ran, (*Kernel).noteStart}, lost, true},
		{"it says so before it was set up", []step{(*Kernel).noteStart, prepared}, furnished, true},
		{"gone", []step{prepared, ran, func(k *Kernel) { k.noteEnd(gone, codeinterp.CauseServer) }}, gone, true},
		{"gone is for good", []step{func(k *Kernel) { k.noteEnd(gone, "") }, died, answered("b"), prepared}, gone, true},
		{"we restarted it", []step{prepared, ran, (*Kernel).noteRestart}, unprepared, true},
		{"attached", []step{func(k *Kernel) { k.Resume("n", "a") }, answered("a"), func(k *Kernel) { k.notePrepared(&plainDialect) }}, furnished, false},
		{"restarted, then attached", []step{func(k *Kernel) { k.Resume("n", "a") }, answered("b"), func(k *Kernel) { k.notePrepared(&plainDialect) }}, ready, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := New(nil, NewKind("r", "ir", server.Spec{}), "")
			for _, s := range c.steps {
				s(k)
			}
			if k.proc != c.want || k.Fresh() != c.fresh {
				t.Errorf("process %d, fresh %t; want %d, %t", k.proc, k.Fresh(), c.want, c.fresh)
			}
		})
	}
}

// TestGap: that a run's socket was replaced is known before what the server replays,
// which can be the end of the run.
func TestGap(t *testing.T) {
	k := New(nil, Kind{dialect: &plainDialect}, "")
	dial := func(heard func()) {
		done := make(chan struct{})
		k.setSocket(func(ready <-chan struct{}) *socket {
			go func() { defer close(done); <-ready; heard() }()
			return &socket{lost: make(chan struct{})}
		})
		<-done
	}
	dial(func() {})
	e := k.newExecution(Order{Program: &driver.Program{}})
	defer e.finish()
	if e.progress().gap {
		t.Error("a run begins with a gap")
	}
	dial(func() {
		if !e.progress().gap {
			t.Error("no gap by the first message")
		}
	})
}

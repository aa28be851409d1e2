package jupyter_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// inShared runs f with a context of a kernel in which another client's program gets
// ahead of ours: it begins when our request is in the kernel's queue, and takes 1.5 s.
func inShared(t *testing.T, play func(*fakeKernel, *fakeMessage), setup func(*fakeServer), f func(r *rig, interrupts *atomic.Int32)) {
	other := &fakeMessage{Header: fakeHeader{ID: "other_1", Session: "other"}}
	var interrupts atomic.Int32
	inFake(t, jupyter.Options{Grace: time.Second}, func(s *fakeServer) {
		s.Interrupt = func(*fakeKernel) { interrupts.Add(1) }
		s.Execute = func(k *fakeKernel, req *fakeMessage) {
			k.IOPub(other, "status", fakeStatus("busy"))
			time.Sleep(1500 * time.Millisecond)
			k.IOPub(other, "status", fakeStatus("idle"))
			busy(k, req)
			k.IOPub(req, "execute_input", map[string]any{"code": req.Code(), "execution_count": 1})
			play(k, req)
			reply(k, req)
			idle(k, req)
		}
		if setup != nil {
			setup(s)
		}
	}, func(r *rig) {
		id, err := r.ci.Adopt(r.t.Context(), r.s.Kernels()[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		r.id = id
		f(r, &interrupts)
		if err := r.ci.DeleteContext(r.t.Context(), id); err != nil {
			t.Error(err)
		}
	})
}

// TestTimeoutBehindOthers protects contract row 14: the time behind another client's program is no
// run time, and nothing is interrupted meanwhile.
func TestTimeoutBehindOthers(t *testing.T) {
	inShared(t, func(k *fakeKernel, req *fakeMessage) { say(k, req, "ran") }, nil, func(r *rig, interrupts *atomic.Int32) {
		res, err := r.run("x", &codeinterp.RunOptions{Timeout: 600 * time.Millisecond})
		if err != nil || res.Stdout() != "ran" || !res.OK() || res.Duration > 600*time.Millisecond {
			t.Errorf("%+v, %v", res, err)
		}
		if n := interrupts.Load(); n != 0 {
			t.Errorf("%d interrupts", n)
		}
	})
}

// TestTimeoutInAdoptedKernel wants a program that has begun to be interrupted.
func TestTimeoutInAdoptedKernel(t *testing.T) {
	inShared(t, func(*fakeKernel, *fakeMessage) { time.Sleep(800 * time.Millisecond) }, nil, func(r *rig, interrupts *atomic.Int32) {
		res, err := r.run("x", &codeinterp.RunOptions{Timeout: 600 * time.Millisecond})
		if err != nil || res.Status != codeinterp.StatusTimeout || interrupts.Load() != 1 {
			t.Errorf("%+v, %v, %d interrupts", res, err, interrupts.Load())
		}
	})
}

// TestCancelBehindOthers protects row 14: a request that waits behind another client's
// program is withdrawn where the kernel can do that; otherwise the error says that it
// may still run.
func TestCancelBehindOthers(t *testing.T) {
	cancelIn := func(r *rig) (codeinterp.Result, error) {
		ctx, cancel := context.WithTimeout(r.t.Context(), 300*time.Millisecond)
		defer cancel()
		return r.ci.RunInContext(ctx, r.id, "x", nil)
	}
	say := func(k *fakeKernel, req *fakeMessage) { say(k, req, "ran") }
	t.Run("withdrawn", func(t *testing.T) {
		inShared(t, say, func(s *fakeServer) {
			s.Control = func(k *fakeKernel, req *fakeMessage) {
				if req.Header.Type == "abort_request" {
					k.Control(req, "abort_reply", map[string]string{"status": "ok"})
				}
			}
		}, func(r *rig, interrupts *atomic.Int32) {
			res, err := cancelIn(r)
			if res.Status != codeinterp.StatusNotRun || !errors.Is(err, context.DeadlineExceeded) || interrupts.Load() != 0 {
				t.Errorf("%+v, %v, %d interrupts", res, err, interrupts.Load())
			}
		})
	})
	t.Run("left in the queue", func(t *testing.T) {
		inShared(t, say, nil, func(r *rig, interrupts *atomic.Int32) {
			start := time.Now()
			res, err := cancelIn(r)
			if res.Status != codeinterp.StatusCanceled || res.StateLost || err == nil || !strings.Contains(err.Error(), "may still run") {
				t.Errorf("%+v, %v", res, err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("after %v", took)
			}
			time.Sleep(2 * time.Second)
			if n := interrupts.Load(); n != 0 {
				t.Errorf("%d interrupts", n)
			}
			// What the other client's program and the left one need is waited for.
			if res := r.ok("y"); res.StateLost || !strings.HasSuffix(res.Stdout(), "ran") {
				t.Errorf("next: %+v", res)
			}
		})
	})
}

// TestTwoContextsOfOneKernel protects row 14 between two contexts of one client.
func TestTwoContextsOfOneKernel(t *testing.T) {
	var interrupts atomic.Int32
	inFake(t, jupyter.Options{Grace: time.Second}, func(s *fakeServer) {
		s.Interrupt = func(*fakeKernel) { interrupts.Add(1) }
		s.Execute = func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			k.IOPub(req, "execute_input", map[string]any{"code": req.Code(), "execution_count": 1})
			if req.Code() == "long" {
				time.Sleep(2 * time.Second)
			}
			reply(k, req)
			idle(k, req)
		}
	}, func(r *rig) {
		var ids [2]codeinterp.ContextID
		for i := range ids {
			id, err := r.ci.Adopt(r.t.Context(), r.s.Kernels()[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = id
		}
		done := make(chan error)
		go func() {
			res, err := r.ci.RunInContext(r.t.Context(), ids[0], "long", nil)
			if !res.OK() {
				t.Errorf("long: %+v", res)
			}
			done <- err
		}()
		res, err := r.ci.RunInContext(r.t.Context(), ids[1], "short", &codeinterp.RunOptions{Timeout: time.Second})
		if !res.OK() || err != nil || interrupts.Load() != 0 {
			t.Errorf("short: %+v, %v, %d interrupts", res, err, interrupts.Load())
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

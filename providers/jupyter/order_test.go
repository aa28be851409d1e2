package jupyter_test

import (
	"errors"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// TestEndOfRun plays every order in which a kernel can tell that a run is
// over.
func TestEndOfRun(t *testing.T) {
	cases := []struct {
		name   string
		play   func(k *fakeKernel, req *fakeMessage)
		stdout string
		lost   codeinterp.TruncationReason
		within time.Duration
	}{
		{"idle last", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			say(k, req, "a")
			reply(k, req)
			say(k, req, "b")
			idle(k, req)
		}, "ab", "", time.Second},
		{"reply last", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			say(k, req, "a")
			idle(k, req)
			time.Sleep(500 * time.Millisecond)
			reply(k, req)
		}, "a", "", time.Second},
		{"output long after the reply", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			reply(k, req)
			time.Sleep(3 * time.Second)
			say(k, req, "a")
			idle(k, req)
		}, "a", "", 4 * time.Second},
		{"no idle", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			say(k, req, "a")
			reply(k, req)
		}, "a", codeinterp.TruncatedByConnection, 6 * time.Second},
		{"others' idle and reply", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			other := &fakeMessage{Header: fakeHeader{ID: "other_1"}}
			reply(k, other)
			idle(k, other)
			say(k, other, "foreign")
			k.IOPub(nil, "status", fakeStatus("idle"))
			time.Sleep(time.Second)
			say(k, req, "own")
			reply(k, req)
			idle(k, req)
		}, "own", "", 2 * time.Second},
		{"a second reply", func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			reply(k, req)
			k.Reply(req, "execute_reply", fakeError("Forged", "x"))
			idle(k, req)
		}, "", "", time.Second},
		{"no busy", func(k *fakeKernel, req *fakeMessage) {
			say(k, req, "a")
			reply(k, req)
			idle(k, req)
		}, "a", "", time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inFake(t, jupyter.Options{}, plays{"x": c.play}.on, func(r *rig) {
				start := time.Now()
				res, err := r.run("x", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.want(res, codeinterp.StatusOK, 0, c.stdout)
				if took := time.Since(start); took > c.within {
					t.Errorf("took %v", took)
				}
				if got := reason(res); got != c.lost {
					t.Errorf("truncated %q, want %q", got, c.lost)
				}
				r.ok("next")
			})
		})
	}
}

// reason is the reason of a Result's first loss.
func reason(res codeinterp.Result) codeinterp.TruncationReason {
	if len(res.Truncated) == 0 {
		return ""
	}
	return res.Truncated[0].Reason
}

// TestAborted: a program that the kernel dropped behind another client's has not run.
func TestAborted(t *testing.T) {
	inFake(t, jupyter.Options{}, plays{"x": func(k *fakeKernel, req *fakeMessage) {
		k.Answer(req, "execute_reply", map[string]any{"status": "aborted"})
	}}.on, func(r *rig) {
		res, err := r.run("x", nil)
		if !errors.Is(err, codeinterp.ErrUnavailable) || res.Status != codeinterp.StatusNotRun {
			t.Errorf("%+v, %v", res, err)
		}
		r.ok("next")
	})
}

func TestLateOutput(t *testing.T) {
	var h heldRequest
	inFake(t, jupyter.Options{}, plays{"first": h.ends, "third": func(k *fakeKernel, req *fakeMessage) {
		busy(k, req)
		_, first := h.get()
		say(k, first, "later still")
		say(k, req, "own")
		reply(k, req)
		idle(k, req)
	}}.on, func(r *rig) {
		r.ok("first")
		k, first := h.get()
		say(k, first, "late")
		time.Sleep(time.Second)
		res := r.ok("second")
		if len(res.Outputs) != 1 || !res.Outputs[0].Late || string(res.Outputs[0].Data) != "late" || res.Stdout() != "" {
			t.Errorf("second: %+v", res.Outputs)
		}
		res = r.ok("third")
		if res.Stdout() != "own" || len(res.Outputs) != 2 || !res.Outputs[0].Late {
			t.Errorf("third: %+v", res.Outputs)
		}
	})
}

func TestRateNotice(t *testing.T) {
	const text = "IOPub data rate exceeded.\nThe Jupyter server will temporarily stop\n"
	inFake(t, jupyter.Options{}, plays{"server": func(k *fakeKernel, req *fakeMessage) {
		busy(k, req)
		m := k.Make("iopub", req, "stream", fakeStream("stderr", text))
		m.Header.Session, m.Header.ID = "the server's own", "notice"
		k.Raw(m)
		reply(k, req)
		idle(k, req)
	}, "program": func(k *fakeKernel, req *fakeMessage) {
		busy(k, req)
		k.IOPub(req, "stream", fakeStream("stderr", text))
		reply(k, req)
		idle(k, req)
	}}.on, func(r *rig) {
		if res := r.ok("server"); reason(res) != codeinterp.TruncatedByRate || res.Stderr() != "" {
			t.Errorf("notice: truncated %+v, stderr %q", res.Truncated, res.Stderr())
		}
		if res := r.ok("program"); len(res.Truncated) > 0 || res.Stderr() != text {
			t.Errorf("the program's own text: truncated %+v, stderr %q", res.Truncated, res.Stderr())
		}
	})
}

func TestJSONProtocol(t *testing.T) {
	inFake(t, jupyter.Options{}, func(s *fakeServer) {
		s.JSONOnly = true
		plays{"x": func(k *fakeKernel, req *fakeMessage) {
			busy(k, req)
			say(k, req, "é\n\"")
			reply(k, req)
			idle(k, req)
		}}.on(s)
	}, func(r *rig) {
		res := r.ok("x")
		if res.Stdout() != "é\n\"" || len(res.Truncated) > 0 {
			t.Errorf("%+v", res)
		}
	})
}

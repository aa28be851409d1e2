package jupyter_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

func TestWarmPool(t *testing.T) {
	inFake(t, jupyter.Options{Warm: map[string]int{"python": 2}}, func(s *fakeServer) {
		s.HTTP = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				time.Sleep(time.Second)
			}
			return false
		}
	}, func(r *rig) {
		time.Sleep(5 * time.Second)
		for range 2 {
			start := time.Now()
			if _, err := r.ci.CreateContext(r.t.Context(), "python", nil); err != nil || time.Since(start) > 20*time.Millisecond {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		}
		time.Sleep(5 * time.Second)
		if n := len(r.s.Kernels()); n != 5 {
			t.Errorf("%d kernels, want 3 contexts and 2 warm", n)
		}
	})
}

func TestDetach(t *testing.T) {
	var h heldRequest
	inFake(t, jupyter.Options{}, plays{"work": h.ends}.on, func(r *rig) {
		r.ok("work")
		ref, err := attaches(r.ci).Detach(r.t.Context(), r.id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.run("x", nil); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("detached: %v", err)
		}
		time.Sleep(time.Second)
		k, req := h.get()
		say(k, req, "meanwhile")
		other, err := jupyter.NewStateful(r.t.Context(), fakeOptions(r.s, jupyter.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		id, err := attaches(other).Attach(r.t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		res, err := other.RunInContext(r.t.Context(), id, "x", nil)
		if err != nil || res.StateLost || len(res.Outputs) != 1 || !res.Outputs[0].Late {
			t.Errorf("%+v, %v", res, err)
		}
		if err := other.DeleteContext(r.t.Context(), id); err != nil {
			t.Error(err)
		}
		if _, err := attaches(other).Attach(r.t.Context(), ref); !errors.Is(err, codeinterp.ErrContext) {
			t.Errorf("a kernel that is gone: %v", err)
		}
	})
}

// TestReferenceOfOtherDirectory: a reference can make Close delete a context's
// directory, and nothing else on the kernel's host.
func TestReferenceOfOtherDirectory(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		ref, err := attaches(r.ci).Detach(r.t.Context(), r.id)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"/", "..", "toolcell-/..", "toolcell-../x", "other"} {
			var fields map[string]any
			if err := json.Unmarshal([]byte(ref), &fields); err != nil {
				t.Fatal(err)
			}
			if was, _ := fields["dir"].(string); was == "" {
				t.Fatalf("the reference names no directory: %s", ref)
			}
			fields["dir"] = dir
			b, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := attaches(r.ci).Attach(r.t.Context(), codeinterp.Ref(b)); !errors.Is(err, codeinterp.ErrInvalid) {
				t.Errorf("%s: %v", dir, err)
			}
		}
		if _, err := attaches(r.ci).Attach(r.t.Context(), ref); err != nil {
			t.Error(err)
		}
	})
}

// TestDetachReportsOutput: output that comes before a context is detached, or while it is,
// is reported by the first run after Adopt, and what comes afterwards is shown.
func TestDetachReportsOutput(t *testing.T) {
	for name, c := range map[string]struct {
		before, between string
		deaf            bool // the server does not close the socket
		missing         bool
	}{
		"nothing":   {"", "", false, false},
		"before":    {"x\n", "", false, true},
		"between":   {"", "x\n", false, true},
		"no answer": {"", "", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			var h heldRequest
			inFake(t, jupyter.Options{}, func(s *fakeServer) {
				plays{"work": h.ends}.on(s)
				s.Leave = func(k *fakeKernel) {
					at, req := h.get()
					if at == k && c.between != "" {
						say(k, req, c.between)
					}
					if at == k && c.deaf {
						time.Sleep(time.Minute)
					}
				}
			}, func(r *rig) {
				r.ok("work")
				k, req := h.get()
				if c.before != "" {
					say(k, req, c.before)
					time.Sleep(time.Second)
				}
				ref, err := attaches(r.ci).Detach(r.t.Context(), r.id)
				if err != nil {
					t.Fatal(err)
				}
				h.set(nil, nil)
				time.Sleep(2 * time.Minute)
				say(k, req, "after\n")
				if r.id, err = attaches(r.ci).Attach(r.t.Context(), ref); err != nil {
					t.Fatal(err)
				}
				var out, errs string
				for _, o := range r.ok("x").Outputs {
					if !o.Late {
						t.Errorf("not late: %+v", o)
					} else if o.Kind == codeinterp.Stderr {
						errs += string(o.Data)
					} else {
						out += string(o.Data)
					}
				}
				if out != "after\n" || strings.Contains(errs, "missing") != c.missing {
					t.Errorf("stdout %q, stderr %q", out, errs)
				}
			})
		})
	}
}

func TestCodeTooLargeForAMessage(t *testing.T) {
	inFake(t, jupyter.Options{}, nil, func(r *rig) {
		res, err := r.run(strings.Repeat("\n", codeinterp.MaxCode), nil)
		if !errors.Is(err, codeinterp.ErrInvalid) || res.Status != codeinterp.StatusNotRun {
			t.Errorf("%+v, %v", res, err)
		}
		r.ok(strings.Repeat("#", codeinterp.MaxCode))
	})
}

package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestCrowdedAnswers: JSON that takes many times its size once it is decoded costs the
// host little more than that size.
func TestCrowdedAnswers(t *testing.T) {
	const most = 200 << 20 // bytes allocated in all; decoded they take gigabytes
	list := "[" + strings.Repeat("{},", maxBody/3-2) + "{}]"
	specs := `{"kernelspecs":{"python3":{"spec":{"language":"python"}}` + strings.Repeat(`,"":{}`, maxBody/6-20) + `}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/kernels", "/api/sessions":
			_, _ = io.WriteString(w, list)
		case "/api/kernelspecs":
			_, _ = io.WriteString(w, specs)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":`+list[:len(list)-20]+`]}`)
		}
	}))
	defer s.Close()
	c, err := New(Config{URL: s.URL, StartTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, call := range map[string]func() error{
		"kernels":  func() error { _, err := c.Kernels(t.Context()); return err },
		"sessions": func() error { _, err := c.Sessions(t.Context()); return err },
		"specs":    func() error { _, err := c.Specs(t.Context()); return err },
		"refusal":  func() error { _, err := c.State(t.Context(), "k"); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := call()
		runtime.ReadMemStats(&after)
		if size := after.TotalAlloc - before.TotalAlloc; err == nil || size > most {
			t.Errorf("%s: %d MiB, %.100v", name, size>>20, err)
		}
		if name != "refusal" && !errors.Is(err, codeinterp.ErrUnavailable) {
			t.Errorf("%s: %.100v", name, err)
		}
	}
}

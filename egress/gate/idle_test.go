package gate_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/egress/gate"
)

// memory returns what live objects and stacks take.
func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// Contexts that have no connection open cost the gate no goroutine and less than 1 KiB
// each, also if they have made connections before.
func TestIdleSessions(t *testing.T) {
	const contexts = 1000
	l := newLab(t, egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{{Hosts: []string{"api.test"}}}}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	converse := func(s *gate.Session) {
		here, there := net.Pipe()
		go s.Serve(there, netip.AddrPort{})
		fmt.Fprint(here, "GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
		if b, err := io.ReadAll(here); err != nil || len(b) == 0 {
			t.Fatal(err)
		}
	}
	converse(l.session)
	before, goroutines := memory(), runtime.NumGoroutine()
	sessions := make([]*gate.Session, contexts)
	for i := range sessions {
		sessions[i] = l.gate.Session()
		sessions[i].BeginRun(fmt.Sprint("context-", i), nil, nil)
		if i%10 == 0 {
			converse(sessions[i])
		}
	}
	l.mu.Lock()
	l.events, l.lookups, l.dialled = nil, nil, nil
	l.mu.Unlock()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines+10 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	each := (int64(memory()) - int64(before)) / contexts
	t.Logf("%d bytes per context", each)
	if g := runtime.NumGoroutine(); each > 1024 || g > goroutines+10 {
		t.Errorf("%d bytes per context; %d goroutines before, %d after", each, goroutines, g)
	}
	for _, s := range sessions {
		s.Close()
	}
}

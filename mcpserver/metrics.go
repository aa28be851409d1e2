package mcpserver

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// metrics count what the server does.
type metrics struct {
	mu      sync.Mutex
	running int
	calls   map[callKind]callCount
	refused map[string]int // by HTTP status
}

type callKind struct{ tool, outcome string }

type callCount struct {
	calls   int
	seconds float64
}

// begin counts a call in progress until done.
func (m *metrics) begin() (done func(tool, outcome string, took time.Duration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running++
	return func(tool, outcome string, took time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.running--
		c := m.calls[callKind{tool, outcome}]
		m.calls[callKind{tool, outcome}] = callCount{c.calls + 1, c.seconds + took.Seconds()}
	}
}

// busy reports whether calls are in progress.
func (m *metrics) busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running > 0
}

// refuse counts a refused HTTP request.
func (m *metrics) refuse(status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[status]++
}

// serveMetrics serves the metrics in the text format of Prometheus.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	sessions, contexts := s.counts()
	s.metrics.write(w, sessions, contexts)
}

// counts returns how many sessions and contexts there are.
func (s *Server) counts() (sessions, contexts int) {
	s.mu.Lock()
	sessions = len(s.known)
	s.mu.Unlock()
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	for _, c := range s.clients.byKey {
		contexts += len(c.contexts)
	}
	return sessions, contexts
}

func (m *metrics) write(w io.Writer, sessions, contexts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(w, "# TYPE toolcell_calls_running gauge\ntoolcell_calls_running %d\n", m.running)
	fmt.Fprintf(w, "# TYPE toolcell_sessions gauge\ntoolcell_sessions %d\n", sessions)
	fmt.Fprintf(w, "# TYPE toolcell_contexts gauge\ntoolcell_contexts %d\n", contexts)
	fmt.Fprintf(w, "# HELP toolcell_call_seconds Duration of calls of tools.\n# TYPE toolcell_call_seconds summary\n")
	for _, k := range slices.SortedFunc(maps.Keys(m.calls), func(a, b callKind) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.outcome, b.outcome))
	}) {
		labels := fmt.Sprintf("{tool=%q,outcome=%q}", k.tool, k.outcome)
		fmt.Fprintf(w, "toolcell_call_seconds_sum%s %g\ntoolcell_call_seconds_count%s %d\n", labels, m.calls[k].seconds, labels, m.calls[k].calls)
	}
	fmt.Fprintf(w, "# HELP toolcell_http_refused_total HTTP requests refused, by status.\n# TYPE toolcell_http_refused_total counter\n")
	for _, status := range slices.Sorted(maps.Keys(m.refused)) {
		fmt.Fprintf(w, "toolcell_http_refused_total{status=%q} %d\n", status, m.refused[status])
	}
}

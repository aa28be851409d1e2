//go:build full

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcell/toolcell/internal/hostiletest"
)

// A mixture has clients that attack a server over HTTP, and others whose answers
// are known.
type mixture struct {
	*small
	end                    time.Time
	attacks, answers, lost atomic.Int64
	wrong, refused         atomic.Int64
	short                  atomic.Int64 // when memory was refused last, in Unix seconds
}

// The programs of all tenants together may want more than the host has. It says
// so then, and has memory again when those have ended.
const noMemory = "no memory for a new context"

// TestStress has tenants of one server run hostile programs, which end in every
// way there is: by their timeouts, by the caller going away, by interrupts,
// restarts and deletions. Beside them others keep state and check it, and run
// programs that each have an answer of their own.
func TestStress(t *testing.T) {
	d, _ := stressFor(t)
	s := startSmall(t, "--manage", "--http-token", "tenant", "--max-contexts", "0")
	m := &mixture{small: s, end: time.Now().Add(d)}
	m.ask(s.client("secret"), "run_code", "language", "javascript", "code", "1")
	before, threads := s.files(), s.status("Threads")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() { m.attack(n) })
		wg.Go(func() { m.neighbour(n) })
		wg.Go(func() { m.tenant(n) })
	}
	wg.Wait()
	t.Logf("%d hostile runs, %d of which took their state along; %d right answers; %d refusals for want of memory; %d KiB at most",
		m.attacks.Load(), m.lost.Load(), m.answers.Load(), m.refused.Load(), s.status("VmHWM"))
	for wait := time.Now().Add(time.Minute); s.files() > before+64 && time.Now().Before(wait); {
		time.Sleep(100 * time.Millisecond) // clients that close their connections
	}
	if n := s.files(); n > before+64 {
		t.Errorf("%d files are open, which were %d", n, before)
	}
	if n := s.status("Threads"); n > threads+64 {
		t.Errorf("%d threads, which were %d", n, threads)
	}
}

func (m *mixture) going() bool { return time.Now().Before(m.end) && m.wrong.Load() < 10 }

func (m *mixture) fault(format string, args ...any) {
	if m.wrong.Add(1) <= 10 {
		m.t.Errorf(format, args...)
	}
}

// call calls a tool; err is the connection's own.
func (m *mixture) call(ctx context.Context, c *mcp.ClientSession, tool string, args ...any) (text string, answer map[string]any, err error) {
	in := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		in[args[i].(string)] = args[i+1]
	}
	res, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil || len(res.Content) == 0 {
		return "", nil, err
	}
	answer, _ = res.StructuredContent.(map[string]any)
	return res.Content[0].(*mcp.TextContent).Text, answer, nil
}

// ask calls a tool that has to answer, again where memory was short.
func (m *mixture) ask(c *mcp.ClientSession, tool string, args ...any) (string, map[string]any) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		text, answer, err := m.call(context.Background(), c, tool, args...)
		if err != nil {
			m.fault("%s: %v", tool, err)
		}
		if err != nil || !strings.Contains(text, noMemory) || time.Now().After(end) {
			return text, answer
		}
		m.refused.Add(1)
		m.short.Store(time.Now().Unix())
	}
}

func (m *mixture) create(c *mcp.ClientSession) string {
	text, made := m.ask(c, "create_code_context", "language", "javascript")
	id, ok := made["contextId"].(string)
	if !ok {
		m.fault("create_code_context: %s", text)
	}
	return id
}

func tokenOf(n int) string { return []string{"secret", "tenant"}[n%2] }

func (m *mixture) attack(n int) {
	programs, rng := hostiletest.JavaScript(), rand.New(rand.NewPCG(7, uint64(n)))
	for m.going() {
		c := m.client(tokenOf(n))
		for range 20 {
			if !m.going() {
				break
			}
			m.attackOnce(c, programs[rng.IntN(len(programs))], rng)
		}
		_ = c.Close()
	}
}

func (m *mixture) attackOnce(c *mcp.ClientSession, p hostiletest.Program, rng *rand.Rand) {
	id := m.create(c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	after := time.Duration(rng.IntN(60)) * time.Millisecond
	var meddler sync.WaitGroup
	meddle := func(tool string) {
		meddler.Go(func() { time.Sleep(after); _, _, _ = m.call(context.Background(), c, tool, "contextId", id) })
	}
	switch rng.IntN(6) {
	case 0:
		time.AfterFunc(after, cancel)
	case 1:
		meddle("interrupt_code_context")
	case 2:
		meddle("restart_code_context")
	case 3:
		meddle("delete_code_context")
	}
	text, answer, err := m.call(ctx, c, "run_in_code_context", "contextId", id, "code", p.Code, "timeoutMs", 1+rng.IntN(100))
	m.attacks.Add(1)
	failed := strings.Contains(text, "engine failed") && time.Now().Unix()-m.short.Load() > 5
	if err != nil && !errors.Is(err, context.Canceled) || failed {
		m.fault("%s: %v %.300s", p.Name, err, text)
	}
	if answer["stateLost"] == true {
		m.lost.Add(1)
	}
	meddler.Wait()
	_, _, _ = m.call(context.Background(), c, "delete_code_context", "contextId", id)
}

// neighbour keeps a large state and checks all of it again and again.
func (m *mixture) neighbour(n int) {
	c := m.client(tokenOf(n))
	id := m.create(c)
	ask := func(code string) string {
		text, answer := m.ask(c, "run_in_code_context", "contextId", id, "code", code)
		if answer["status"] != "ok" {
			m.fault("neighbour %d: %s", n, text)
		}
		return text
	}
	want := ask(fmt.Sprintf(`
const list = Array.from({ length: 5000 }, (_, i) => ({ i, s: "k" + i * %d })), bytes = new Uint8Array(3e5).map((_, i) => i * %d);
const sum = () => {
	let h = 0;
	for (const o of list) h = (h * 31 + o.i + o.s.length + o.s.charCodeAt(o.s.length - 1)) | 0;
	for (let i = 0; i < bytes.length; i += 7) h = (h * 33 + bytes[i]) | 0;
	return h;
};
sum()`, n+3, n+5))
	for m.going() {
		if got := ask("sum()"); got != want {
			m.fault("neighbour %d: its memory sums up to %s, which was %s", n, got, want)
		}
		m.answers.Add(1)
		time.Sleep(20 * time.Millisecond)
	}
}

// tenant runs programs that each have an answer of their own, in two languages.
func (m *mixture) tenant(n int) {
	c := m.client(tokenOf(n))
	for k := 0; m.going(); k++ {
		want := fmt.Sprintf("private of %d-%d.", n, k)
		language, code := "javascript", fmt.Sprintf("console.log('printed %s'); '%s'", want, want)
		if k%2 == 1 {
			language, code = "typescript", fmt.Sprintf("const s: string = '%s'; console.log('printed ' + s); s as string", want)
		}
		text, answer := m.ask(c, "run_code", "language", language, "code", code)
		if strings.Count(text, want) != 2 || strings.Count(text, "private of") != 2 || answer["status"] != "ok" {
			m.fault("asked for %s, got %s", want, text)
		}
		m.answers.Add(1)
		time.Sleep(2 * time.Millisecond)
	}
}

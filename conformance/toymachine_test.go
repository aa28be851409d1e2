package conformance

import (
	"fmt"
	"maps"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

// A machine holds the state of a toy program: what a session keeps.
type machine struct {
	gate *toyGate
	o    driver.Options

	vars, env map[string]string
	stdin     string
	display   int

	files *memfs.FS // they stay when the state goes

	// What the programs left behind.
	late     sync.WaitGroup
	children []*exec.Cmd
	gone     chan struct{} // closed when the state goes

	wake   chan struct{} // closed to start the call that callLeft left behind
	answer chan string   // of that call

	mu  sync.Mutex
	run *toyRun // the run in progress
}

// empty ends what the programs left behind, and the state.
func (m *machine) empty() {
	if m.gone != nil {
		close(m.gone)
	}
	m.late.Wait()
	for _, c := range m.children {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	m.gone, m.children = make(chan struct{}), nil
	m.vars, m.env = map[string]string{}, nil
}

// enter makes r the run in progress, or none.
func (m *machine) enter(r *toyRun) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run, m.env = r, maps.Clone(m.o.Env)
	if r == nil {
		return
	}
	if m.env == nil {
		m.env = map[string]string{}
	}
	maps.Copy(m.env, r.in.Env)
	m.stdin = string(r.in.Stdin)
}

// A command is one line of a program.
type command struct {
	line int
	name string
	args []string
}

// parse reads a program: a command and quoted arguments per line.
func parse(code string) ([]command, error) {
	var list []command
	for i, line := range strings.Split(code, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		c := command{line: i + 1, name: name}
		for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fail("SyntaxError", "not a string: "+rest, c)
			}
			arg, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fail("SyntaxError", "not a string: "+quoted, c)
			}
			c.args = append(c.args, arg)
			rest = rest[len(quoted):]
		}
		if toyCommands[name] == nil {
			return nil, fail("SyntaxError", "no command "+name, c)
		}
		list = append(list, c)
	}
	return list, nil
}

func fail(name, message string, c command) *codeinterp.ProgramError {
	return &codeinterp.ProgramError{Name: name, Message: message, Line: c.line,
		Traceback: strings.Split(fmt.Sprintf("line %d\n%s: %s", c.line, name, message), "\n")}
}

// execute runs a program. Its error is a ProgramError, a toyExit, or
// errToyKilled.
func (m *machine) execute(r *toyRun, code string) error {
	list, err := parse(code)
	if err != nil {
		return err
	}
	for i, c := range list {
		m.gate.wait(r)
		if c.name == "value" && i < len(list)-1 {
			continue
		}
		if c.name != "stubborn" && r.stopped() { // an interrupt may come just ahead of what is deaf to it
			return r.interrupted(c)
		}
		if err := toyCommands[c.name](m, r, c); err != nil {
			return err
		}
	}
	for _, f := range r.atEnd {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

type toyCommand func(*machine, *toyRun, command) error

var toyCommands map[string]toyCommand

func init() {
	toyCommands = map[string]toyCommand{
		"print":    func(m *machine, r *toyRun, c command) error { return write(r, codeinterp.Stdout, c.args[0]) },
		"eprint":   func(m *machine, r *toyRun, c command) error { return write(r, codeinterp.Stderr, c.args[0]) },
		"pause":    pause,
		"spin":     spin,
		"stubborn": stubborn,
		"flood":    flood,
		"exit":     func(m *machine, r *toyRun, c command) error { return toyExit(number(c.args[0])) },
		"hardexit": func(m *machine, r *toyRun, c command) error { return toyDeath(number(c.args[0])) },
		"awaited": func(m *machine, r *toyRun, c command) error {
			r.atEnd = append(r.atEnd, func() error {
				if !r.pause(duration(c.args[1])) {
					return r.interrupted(c)
				}
				return write(r, codeinterp.Stdout, c.args[0])
			})
			return nil
		},
		"unending": func(m *machine, r *toyRun, c command) error { // the end comes at once
			r.out.Write(codeinterp.Stdout, []byte(c.args[0]))
			return nil
		},
		"fail": func(m *machine, r *toyRun, c command) error { return fail("ToyError", c.args[0], c) },
		"faillong": func(m *machine, r *toyRun, c command) error {
			return fail("ToyError", strings.Repeat("x", number(c.args[0])), c)
		},
		"recurse":  func(m *machine, r *toyRun, c command) error { return fail("RecursionError", "too deep", c) },
		"import":   importModule,
		"lines":    writeLines,
		"set":      func(m *machine, r *toyRun, c command) error { m.vars[c.args[0]] = c.args[1]; return nil },
		"get":      get,
		"has":      has,
		"value":    value,
		"show":     show,
		"update":   updateDisplay,
		"connect":  unreachable,
		"kill":     unreachable,
		"yield":    yield,
		"readall":  readAll,
		"readline": readLine,
		"getenv":   getenv,
		"getwd":    func(m *machine, r *toyRun, c command) error { return write(r, codeinterp.Stdout, m.o.Cwd+"\n") },
		"write":    writeFile,
		"read":     read,
		"append":   appendForever,
		"killself": func(m *machine, r *toyRun, c command) error { return errToyKilled },
		"child":    child,
		"late":     late,

		"call":       callFunction,
		"callcaught": callCaught,
		"callloop":   callLoop,
		"callleft":   callLeft,
		"callwake":   callWake,
	}
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func duration(s string) time.Duration { d, _ := time.ParseDuration(s); return d }

func write(r *toyRun, kind codeinterp.Kind, text string) error {
	if text != "" {
		r.out.Write(kind, []byte(text))
	}
	return nil
}

func pause(m *machine, r *toyRun, c command) error {
	if r.pause(duration(c.args[0])) {
		return nil
	}
	return r.interrupted(c)
}

func spin(m *machine, r *toyRun, c command) error {
	select {
	case <-r.stop:
	case <-r.ctx.Done():
	}
	return r.interrupted(c)
}

// yield ends normally where it is interrupted.
func yield(m *machine, r *toyRun, c command) error {
	if r.pause(time.Hour); r.ctx.Err() != nil {
		return errToyKilled
	}
	return nil
}

func stubborn(m *machine, r *toyRun, c command) error {
	<-r.ctx.Done()
	return errToyKilled
}

func flood(m *machine, r *toyRun, c command) error {
	for r.pause(time.Millisecond) {
		r.out.Write(codeinterp.Stdout, []byte("tick\n"))
	}
	return r.interrupted(c)
}

func importModule(m *machine, r *toyRun, c command) error {
	err := fail("ImportError", "no module "+c.args[0], c)
	err.MissingModule = c.args[0]
	return err
}

func writeLines(m *machine, r *toyRun, c command) error {
	n := number(c.args[0])
	buf := make([]byte, 0, 8192)
	for i := range n {
		if buf = fmt.Appendf(buf, "%07d\n", i); len(buf) == cap(buf) || i == n-1 {
			if r.stopped() {
				return r.interrupted(c)
			}
			r.out.Write(codeinterp.Stdout, buf)
			buf = buf[:0]
		}
	}
	return nil
}

func get(m *machine, r *toyRun, c command) error {
	v, ok := m.vars[c.args[0]]
	if !ok {
		return fail("NameError", c.args[0], c)
	}
	return write(r, codeinterp.Stdout, v+"\n")
}

func has(m *machine, r *toyRun, c command) error {
	if _, ok := m.vars[c.args[0]]; ok {
		return write(r, codeinterp.Stdout, "yes\n")
	}
	return write(r, codeinterp.Stdout, "no\n")
}

func value(m *machine, r *toyRun, c command) error {
	o := codeinterp.Output{Kind: codeinterp.Value, Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte(c.args[1])}}}
	if c.args[0] != "" {
		o.Value = []byte(c.args[0])
	}
	r.value = &o
	return nil
}

// bundle reads pairs of a MIME type and data.
func bundle(args []string) []codeinterp.Representation {
	var list []codeinterp.Representation
	for i := 0; i+1 < len(args); i += 2 {
		list = append(list, codeinterp.Representation{MIME: args[i], Data: []byte(args[i+1])})
	}
	codeinterp.SortBundle(list)
	return list
}

func show(m *machine, r *toyRun, c command) error {
	m.display++
	r.out.Add(codeinterp.Output{Kind: codeinterp.Display, Bundle: bundle(c.args), DisplayID: fmt.Sprint("display", m.display)})
	return nil
}

func updateDisplay(m *machine, r *toyRun, c command) error {
	r.out.Add(codeinterp.Output{Kind: codeinterp.Display, Update: true, Bundle: bundle(c.args), DisplayID: fmt.Sprint("display", m.display)})
	return nil
}

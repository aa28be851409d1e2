package jupyter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// maxTerminalCommand bounds a command on a terminal: systems take no argument that is longer
// than 128 KiB.
const maxTerminalCommand = 120 << 10

// lastOutput is how long a terminal that has ended may take to show the rest.
const lastOutput = 3 * time.Second

// terminals are those of the server, by its API for them.
type terminals struct {
	rt *runtime

	mu   sync.Mutex
	left []leftTerminal // could not be ended yet
}

// A terminalRuntime has commands and terminals.
type terminalRuntime struct {
	commandRuntime
	*terminals
}

var _ driver.TerminalStarter = terminalRuntime{}

// StartTerminal implements driver.TerminalStarter.
func (t *terminals) StartTerminal(_ context.Context, o codeinterp.TerminalOptions) (driver.Session, error) {
	return &terminal{t: t, o: o, id: rand.Text()}, nil
}

// Close implements driver.Runtime.
func (t terminalRuntime) Close(ctx context.Context) error {
	left := t.left // no session is in use any more
	t.left = nil
	var errs []error
	for _, l := range left {
		errs = append(errs, t.end(l))
	}
	return errors.Join(append(errs, t.commandRuntime.Close(ctx))...)
}

// A terminal is the session of one command on a terminal.
type terminal struct {
	t  *terminals
	o  codeinterp.TerminalOptions
	id string // in the environment of all that it starts

	mu   sync.Mutex
	sent codeinterp.Signal // the last signal that was sent to it
}

// Run implements driver.Session.
func (t *terminal) Run(ctx context.Context, p *driver.Program, out *driver.Output) (driver.Outcome, error) {
	if len(p.Code) > maxTerminalCommand {
		return driver.Outcome{}, fmt.Errorf("%w: a command of %d bytes, and terminals accept %d; put it into a file", codeinterp.ErrInvalid, len(p.Code), maxTerminalCommand)
	}
	s, err := t.t.openShell(ctx, t.o.Size, t.script(p))
	if err != nil {
		return driver.Outcome{}, err
	}
	defer s.Close()
	self := leftTerminal{s.name, t.id, s.pid}
	if err := p.HandOver(func() error { return s.Send("stdin", s.script) }); err != nil {
		return driver.Outcome{}, errors.Join(err, t.t.end(self))
	}
	swept := sync.OnceValue(func() error {
		// The last output may still come.
		defer time.AfterFunc(lastOutput, s.Close)
		return t.t.end(self)
	})
	stopped := context.AfterFunc(ctx, func() { _ = swept() })
	code, clean, err := t.follow(s, p, out, func() { _ = swept() })
	if stopped() && clean {
		swept = func() error { return nil }
	}
	left := swept()
	if err != nil && ctx.Err() != nil && left == nil {
		out.MayLack(codeinterp.TruncatedByConnection, codeinterp.Stdout)
		err = nil // how it ended is known: it was killed
	}
	return t.outcome(code, err, left, out), nil
}

// follow shows the output to its end, and helps meanwhile. The exit code is -1 if it is
// unknown; clean says that nothing is left of the command.
func (t *terminal) follow(s *shell, p *driver.Program, out *driver.Output, end func()) (code int, clean bool, err error) {
	code = -1
	over := func() {}
	defer func() { over() }()
	for {
		text, ended, err := s.Read()
		shown, marks := s.split(text)
		if err != nil || ended {
			shown += s.held
		}
		out.Write(codeinterp.Stdout, []byte(shown))
		for _, mark := range marks {
			what, n, _ := strings.Cut(mark, ";")
			switch what {
			case "begun":
				over = sync.OnceFunc(t.help(s, p))
			case "ended":
				over()
				if code, err = strconv.Atoi(n); err != nil {
					return -1, false, lostTerminal(err)
				}
				p.End()
				// The rest does not take long, unless a program has forged the mark.
				defer time.AfterFunc(sweepLimit, end).Stop()
			case "clean":
				clean = true
			}
		}
		if err != nil || ended {
			return code, clean && ended, err
		}
	}
}

// outcome says how the command ended: err is how the connection did, and left says why
// something of the command may still run.
func (t *terminal) outcome(code int, err, left error, out *driver.Output) driver.Outcome {
	o := driver.Outcome{ExitCode: code & 0xff}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n, sent := numbers[t.sent]; {
	case code >= 0 && sent && code == 128+n:
		o.Cause = codeinterp.CauseInterrupt
	case code >= 0:
	case err != nil:
		out.MayLack(codeinterp.TruncatedByConnection, codeinterp.Stdout)
		o = driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Unknown: lostTerminal(err)}
	default:
		o = driver.Outcome{ExitCode: codeinterp.ExitKilled, Lost: true, Cause: codeinterp.CauseExit}
	}
	if left != nil {
		o.Unknown = server.Unavailable("something that the terminal started may still be running: %v", left)
	}
	return o
}

// script runs the command, and reports its exit code and whether all has ended.
func (t *terminal) script(p *driver.Program) string {
	const signals = " HUP INT QUIT TERM USR1 USR2 TTOU\n"
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("id=%s sid=$$ dir=${TMPDIR:-/tmp}/toolcell-%s", t.id, t.id)
	line(`stty "$m"; say begun; trap ''` + signals + "( trap -" + signals + "unset COLUMNS LINES PYXTERM_DIMENSIONS")
	line(`sh=$(command -v bash || command -v sh); cd -- "${JUPYTER_SERVER_ROOT:-.}"`)
	switch dir := t.t.rt.opts.Dir; {
	case dir != "":
		line("cd -- %s || exit 126", quote(dir))
	case t.o.Cwd == "":
		line(`mkdir -m 700 "$dir" && cd "$dir" || exit 126`)
	}
	if t.o.Cwd != "" {
		line("cd -- %s || exit 126", quote(t.o.Cwd))
	}
	fmt.Fprintf(&b, "exec env TERM=xterm-256color")
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, " %s", quote(name+"="+p.Env[name]))
	}
	fmt.Fprintf(&b, " TOOLCELL_TERMINAL=%s ", t.id)
	if strings.TrimSpace(p.Code) == "" {
		line(`"${SHELL:-$sh}" -l -i )`)
	} else {
		line(`"$sh" -c %s )`, quote(p.Code))
	}
	line(`say "ended;$?"; sweep && rm -rf -- "$dir" && say clean`)
	return b.String()
}

// quote returns a word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Interrupt implements driver.Session: a terminal is ended at once.
func (t *terminal) Interrupt(context.Context) error { return errors.ErrUnsupported }

// Reset implements driver.Session.
func (t *terminal) Reset(context.Context) error { return nil }

// Close implements driver.Session. Run leaves nothing behind.
func (t *terminal) Close(context.Context) error { return nil }

package jupyter

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// A shell is a terminal on the server whose shell was replaced by one that runs a script
// of ours. It reports by marks: control sequences with a secret, which no output has.
type shell struct {
	*server.Terminal
	name   string
	script string
	prefix string // of a mark
	pid    string // of the process that runs the script, which is its session's id
	held   string // what came and may be the begin of a mark
}

// scriptTools are functions of scripts. each sends a signal to all processes that carry $id or
// are of the session $sid, but for its leader; sweep kills them and reports if none is left.
const scriptTools = `
each() {
	n=; m=" $(grep -lasF "TOOLCELL_TERMINAL=$id" /proc/[0-9]*/environ 2>/dev/null | tr '\n' ' ')"
	for d in /proc/[0-9]*; do
		p=${d#/proc/}
		{ read -r s <"$d/stat"; } 2>/dev/null || continue
		set -- $1 ${s##*)}
		case $2 in Z|X) continue;; esac
		[ "$p" != $$ ] && [ "$p" != "$sid" ] || continue
		case $m in *" $d/environ "*) ;; *) [ "$5" = "$sid" ] || continue;; esac
		kill -s "$1" "$p" 2>/dev/null; n=1
	done
}
sweep() {
	[ -r /proc/self/stat ] || return 1
	for i in 1 2 3 4 5 6 7 8 9; do
		each KILL; [ "$n" ] || return 0
		sleep 0.1 2>/dev/null || sleep 1
	done
	return 1
}
`

// openShell starts a terminal that waits for the script. In it, say sends a mark, and $m is
// what stty restores the terminal with. tools are the functions that it uses.
func (t *terminals) openShell(ctx context.Context, size codeinterp.TerminalSize, script string) (*shell, error) {
	secret := rand.Text()
	s := &shell{name: rand.Text(), prefix: "\x1b]7777;" + secret + ";"}
	s.script = "say() { printf '\\033]7777;%s;%s\\007' " + secret + " \"$1\"; }\n" + scriptTools + script
	// Not ctx: the answer says whether there is one to delete.
	err := t.rt.c.StartTerminal(context.WithoutCancel(ctx), s.name)
	if err == nil {
		s.Terminal, err = t.rt.c.DialTerminal(ctx, s.name)
	}
	if err == nil {
		defer context.AfterFunc(ctx, s.Close)()
		err = s.boot(size, secret)
	}
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, errors.Join(err, t.drop(s))
}

// boot replaces the login shell, of whatever kind, and waits until that has happened. The
// line is short, since terminals cut long ones.
func (s *shell) boot(size codeinterp.TerminalSize, secret string) error {
	line := fmt.Sprintf(" unset HISTFILE; exec sh -c 'm=$(stty -g); stty raw -echo; "+
		`printf "\033]7777;%%s;%%s\007" %s $$; eval "$(head -c %d)"'`+"\r", secret, len(s.script))
	if err := errors.Join(s.Send("set_size", size.Rows, size.Columns), s.Send("stdin", line)); err != nil {
		return lostTerminal(err)
	}
	for {
		text, ended, err := s.Read()
		if err != nil || ended {
			return lostTerminal(cmp.Or(err, errShellEnded))
		}
		if _, marks := s.split(text); len(marks) > 0 {
			s.pid = marks[0]
			return nil
		}
	}
}

var errShellEnded = errors.New("the terminal's shell has ended")

func lostTerminal(err error) error {
	return fmt.Errorf("%w: terminal: %w", codeinterp.ErrUnavailable, err)
}

// maxMark is how long a mark can be.
const maxMark = 64

// split takes the marks out of a text. What may be the begin of one is held.
func (s *shell) split(text string) (shown string, marks []string) {
	text, s.held = s.held+text, ""
	for {
		before, rest, found := strings.Cut(text, s.prefix)
		if !found {
			n := min(len(s.prefix)-1, len(text))
			for !strings.HasSuffix(text, s.prefix[:n]) {
				n--
			}
			s.held = text[len(text)-n:]
			return shown + text[:len(text)-n], marks
		}
		mark, after, whole := strings.Cut(rest, "\a")
		switch {
		case !whole && len(rest) < maxMark:
			s.held = text[len(before):]
			return shown + before, marks
		case !whole || len(mark) >= maxMark:
			shown, text = shown+before+s.prefix, rest
		default:
			shown, text, marks = shown+before, after, append(marks, mark)
		}
	}
}

// sweepLimit is how long it may take to end what a terminal has started.
const sweepLimit = 20 * time.Second

// A leftTerminal is what is needed to end a terminal, and what it has started.
type leftTerminal struct{ name, id, pid string }

// end ends a terminal and all that it has started: the server ends its shell only. What
// cannot be ended is left to Close.
func (t *terminals) end(l leftTerminal) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), sweepLimit,
		server.Unavailable("the server did not end a terminal within %v", sweepLimit))
	defer cancel()
	err := t.rt.c.DeleteTerminal(ctx, l.name)
	if err == nil && l.pid != "" {
		err = t.serve(ctx, l, "sweep && rm -rf -- \"${TMPDIR:-/tmp}/toolcell-$id\" && say 0")
	}
	if err != nil {
		t.mu.Lock()
		t.left = append(t.left, l)
		t.mu.Unlock()
	}
	return err
}

// drop ends a terminal that has run nothing.
func (t *terminals) drop(s *shell) error {
	if s.Terminal != nil {
		s.Close()
	}
	return t.end(leftTerminal{name: s.name})
}

// serve runs a script beside a terminal.
func (t *terminals) serve(ctx context.Context, l leftTerminal, script string) error {
	size, _ := codeinterp.TerminalSize{}.Check()
	s, err := t.openShell(ctx, size, fmt.Sprintf("id=%s sid=%s\n%s", l.id, l.pid, script))
	if err != nil {
		return err
	}
	defer func() { _ = t.drop(s) }()
	defer context.AfterFunc(ctx, s.Close)()
	if err := s.Send("stdin", s.script); err != nil {
		return lostTerminal(err)
	}
	for {
		text, ended, err := s.Read()
		_, marks := s.split(text)
		switch {
		case len(marks) > 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return lostTerminal(err)
		case ended:
			return server.Unavailable("something that the terminal started may still be running")
		}
	}
}

//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/interpreter"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// maxProbe bounds the time that a driver has to start.
const maxProbe = interpreter.MaxAsk

// A language is a Language whose interpreter was found.
type language struct {
	Language
	knownLanguage
	probed string // what the host asks in place of Path; empty: that
	made   bool   // it is in an environment of package environments
	forks  bool   // processes are forked where the language can be: a fork server is compiled too

	searched []string // directories of packages

	passed []string // what was tried before, with reasons
}

// isJavaScript reports whether node runs the language.
func (l *language) isJavaScript() bool { return l.kind == nodeKind || l.kind == typescriptKind }

// find returns l with the first interpreter that can be reached from the
// sandbox, is new enough and works there; or an error that names what was
// tried.
func (h *host) find(l Language) (*language, error) {
	var tried []string
	for _, path := range interpreter.Candidates(l.Commands, l.kind == pythonKind) {
		c := &language{Language: l, knownLanguage: knownLanguage{Path: path}, passed: tried, forks: h.opts.Warm != nil || h.opts.Forks}
		err := h.consider(c)
		if err == nil {
			return c, nil
		}
		tried = append(tried, fmt.Sprintf("%s (%v)", path, err))
	}
	if tried == nil {
		tried = []string{strings.Join(l.Commands, ", ") + " (not found on PATH)"}
	}
	return nil, missing(&l, tried)
}

// consider says why a candidate is not taken, nil if it is.
func (h *host) consider(c *language) error {
	if err := h.sandbox.Showable(c.Path); err != nil {
		return err
	}
	// Before probe, which starts it, as what programs may have changed is not to be.
	if err := c.checkTrust(h.opts.changeable()); err != nil {
		return err
	}
	if h.recall(c) {
		return c.show(h.sandbox)
	}
	key, candidate := h.probeKey(c), c.Path
	if err := c.probe(); err != nil {
		return err
	}
	if err := c.show(h.sandbox); err != nil {
		return err
	}
	if err := h.try(c); err != nil {
		return err
	}
	h.remember(key, candidate, c)
	return nil
}

// unstarted returns the error of an interpreter that did not start: that it is not
// there any more says more than what became of it.
func (l *language) unstarted(err error) error {
	if _, gone := os.Stat(l.Path); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is gone; make it again where it was an environment's, and open a new interpreter", codeinterp.ErrUnavailable, l.Path)
	}
	return err
}

// missing is the error of a language without an interpreter that works.
func missing(l *Language, tried []string) error {
	hint := ""
	if l.Install != "" {
		hint = "; " + l.Install
	}
	return fmt.Errorf("%w for %s: tried %s%s", ErrNoInterpreter, l.Name, strings.Join(tried, "; "), hint)
}

// probe asks the interpreter, as the host, for its version and what else is needed to
// start it. Programs cannot have changed it.
func (l *language) probe() error {
	if l.kind == pythonKind {
		return l.probePython()
	}
	args := l.VersionArgs
	if args == nil {
		args = []string{"--version"}
	}
	out, err := interpreter.Ask(l.probePath(), args, "")
	if err != nil {
		return err
	}
	v := interpreter.Version(out)
	if v == "" {
		return errors.New("prints no version")
	}
	if interpreter.Older(v, l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", v, l.MinVersion)
	}
	l.Runtime = l.Name + " " + v
	l.Roots = interpreter.Roots(l.probePath())
	l.Prefix = interpreter.Prefix(l.Path)
	if e := l.environment; e != nil {
		l.Roots = append(l.Roots, e.Dir)
		l.Packages = nodePackages(e.Lock)
	}
	return nil
}

// learn notes what the driver's hello says of the runtime.
func (l *language) learn(runtime string) {
	l.Runtime = runtime
	if l.kind == typescriptKind {
		l.Runtime += " (types erased)"
	}
}

// show opens l's interpreter to programs where only root reaches it.
func (l *language) show(s *sandbox.Sandbox) error {
	if err := s.Show(l.Roots); err != nil {
		return fmt.Errorf("cannot be reached by programs: %w", err)
	}
	return nil
}

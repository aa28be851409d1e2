package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// isID matches the ids of kernels and sessions, which go into paths.
var isID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z_-]+$`) })

// ref is the serialised form of a context. It holds no secrets.
type ref struct {
	Kernel   string `json:"kernel"`
	Language string `json:"language"`
	Spec     string `json:"spec"`
	Socket   string `json:"socket,omitempty"` // what a client that left was called
	Process  string `json:"process,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	Dir      string `json:"dir,omitempty"`
	Empty    bool   `json:"empty,omitempty"`
	Foreign  bool   `json:"guest,omitempty"`   // the kernel is somebody else's
	Missing  bool   `json:"missing,omitempty"` // late output that no run has shown
	Mark     string `json:"mark,omitempty"`    // a client that may have ended in a run; see kernel.Expect
}

// Refer implements driver.Attacher.
func (rt *runtime) Refer(s driver.Session) (codeinterp.Ref, error) {
	r := s.(*session).ref()
	k := s.(*session).k.Load()
	r.Socket, _ = k.Names()
	r.Mark = k.Mark()
	return r.String(), nil
}

// Detach implements driver.Attacher. The reference holds no credentials, no environment
// and no output: if any came since the last run, the first run after Attach reports that
// it is missing.
func (rt *runtime) Detach(ctx context.Context, s driver.Session, unread func() bool) (codeinterp.Ref, error) {
	k, former := s.(*session).k.Load(), s.(*session).former
	s.(*session).forgetFormer()
	if err := k.AwaitInterrupts(ctx); err != nil {
		return "", err
	}
	// Before unread is asked, since the socket's last messages may be late output.
	whole := k.HangUp()
	r := s.(*session).ref()
	r.Socket, _ = k.Names()
	r.Missing = !whole || former || unread()
	return r.String(), nil
}

// ref describes the session.
func (s *session) ref() *ref {
	k := s.k.Load()
	_, process := k.Names()
	return &ref{Kernel: k.ID, Language: s.opts.Language,
		Spec: s.kind.Name, Process: process, Cwd: s.opts.Cwd, Dir: s.dir, Empty: k.Fresh(), Foreign: s.foreign}
}

func (r *ref) String() codeinterp.Ref {
	b, _ := json.Marshal(r)
	return codeinterp.Ref(b)
}

// wellFormed reports whether what goes into paths leads nowhere else: the id into
// those of requests, and the directory, which goes with the context, into one of the
// kernel's host.
func (r *ref) wellFormed() bool {
	return isID().MatchString(r.Kernel) &&
		(r.Dir == "" || strings.HasPrefix(r.Dir, dirPrefix) && isID().MatchString(r.Dir))
}

// Attach implements driver.Attacher.
func (rt *runtime) Attach(ctx context.Context, reference codeinterp.Ref, late func(codeinterp.Output)) (driver.Attached, error) {
	var r ref
	if err := json.Unmarshal([]byte(reference), &r); err != nil || !r.wellFormed() {
		return driver.Attached{}, fmt.Errorf("%w: not the reference of a context", codeinterp.ErrInvalid)
	}
	language, err := codeinterp.ResolveLanguage(r.Language, rt.languages)
	if err != nil {
		return driver.Attached{}, err
	}
	o := driver.Options{Language: language, ContextOptions: codeinterp.ContextOptions{Cwd: r.Cwd}, Late: late}
	kind := rt.kinds[language]
	if r.Foreign {
		kind = kind.Visited()
	}
	k := kernel.New(rt.c, kind, r.Kernel)
	k.Foreign = r.Foreign
	k.Resume(r.Socket, r.Process)
	s := newSession(rt, kind, o, k)
	s.dir, s.foreign, s.shared = r.Dir, r.Foreign, true
	if _, err := rt.c.State(ctx, r.Kernel); err != nil {
		return driver.Attached{}, asContextError(err)
	}
	// Before the kernel is connected, whose own late output is younger.
	if r.Missing {
		s.report("Output that came before the context was detached is missing.\n")
	}
	// The first run prepares the kernel, which may be busy now.
	connect := k.Connect
	switch {
	case r.Mark != "":
		k.Expect(r.Mark)
		s.former = true
	case r.Foreign:
		connect = func(ctx context.Context) error { return k.Ensure(ctx, nil) }
	}
	if err := connect(ctx); err != nil {
		k.Drop()
		return driver.Attached{}, asContextError(err)
	}
	return driver.Attached{Session: s, Language: language, Options: o.ContextOptions, Empty: r.Empty}, nil
}

// asContextError returns ErrContext for a kernel that is gone.
func asContextError(err error) error {
	if server.IsGone(err) || errors.Is(err, kernel.ErrGone) {
		return fmt.Errorf("%w: the kernel is gone", codeinterp.ErrContext)
	}
	return err
}

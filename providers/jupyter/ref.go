package jupyter

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// ref is the serialised form of a context. It holds no secrets.
type ref struct {
	Kernel   string `json:"kernel"`
	Session  string `json:"session,omitempty"`
	Language string `json:"language"`
	Spec     string `json:"spec"`
	Socket   string `json:"socket"`
	Process  string `json:"process,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	Dir      string `json:"dir,omitempty"`
}

// Ref returns a context's reference: text that Attach, in this or another
// process, turns into a context with the same state for as long as the kernel
// lives. It holds no credentials and no environment.
func (s *Stateful) Ref(id codeinterp.ContextID) (string, error) {
	c, err := s.find(id)
	if err != nil {
		return "", wrap("refer to context", err)
	}
	return c.ref(), nil
}

func (c *kernelContext) ref() string {
	k := c.kernel()
	k.mu.Lock()
	defer k.mu.Unlock()
	b, _ := json.Marshal(ref{Kernel: k.handle.kernel, Session: k.handle.session, Language: c.language,
		Spec: k.rt.name, Socket: k.session, Process: k.process, Cwd: c.opts.Cwd, Dir: c.dir})
	return string(b)
}

// Detach gives a context up without deleting its kernel, and returns its
// reference. It waits for the runs that were started before. The kernel is
// then nobody's until Attach, or Sweep.
func (s *Stateful) Detach(ctx context.Context, id codeinterp.ContextID) (string, error) {
	text, err := s.detach(ctx, id)
	return text, wrap("detach context", err)
}

func (s *Stateful) detach(ctx context.Context, id codeinterp.ContextID) (string, error) {
	c, err := s.find(id)
	if err != nil {
		return "", err
	}
	if err := c.wait(ctx); err != nil {
		return "", err
	}
	defer c.turn.Release(1)
	s.cmu.Lock()
	delete(s.contexts, id)
	s.cmu.Unlock()
	c.mu.Lock()
	gone := c.gone
	c.gone = true
	c.mu.Unlock()
	if gone {
		return "", codeinterp.ErrContext
	}
	close(c.deleted)
	text := c.ref()
	c.kernel().drop()
	return text, nil
}

// Attach makes a context of a reference. What the kernel printed since the
// former client left comes as late output of the next run; a kernel that was
// restarted meanwhile makes that run tell StateLost. The environment of the
// former ContextOptions holds while the kernel's process lives. One that is
// gone is ErrContext. From then on the kernel is this client's, which deletes
// it on Close.
func (s *Stateful) Attach(ctx context.Context, reference string) (codeinterp.ContextID, error) {
	id, err := s.attach(ctx, reference)
	return id, wrap("attach context", err)
}

func (s *Stateful) attach(ctx context.Context, reference string) (codeinterp.ContextID, error) {
	var r ref
	if err := json.Unmarshal([]byte(reference), &r); err != nil || r.Kernel == "" {
		return "", fmt.Errorf("%w: not the reference of a context", codeinterp.ErrInvalid)
	}
	language, err := codeinterp.ResolveLanguage(r.Language, s.languages)
	if err != nil {
		return "", err
	}
	if !s.begin() {
		return "", codeinterp.ErrClosed
	}
	defer s.ops.Done()
	k := newKernel(s.c, s.runtimes[language], handle{kernel: r.Kernel, session: r.Session})
	k.process = r.Process
	if r.Socket != "" {
		k.session = r.Socket
	}
	within, cancel := s.bound(ctx)
	defer cancel()
	if _, err := s.c.kernelState(within, r.Kernel, requestTimeout); err != nil {
		return "", err
	}
	if err := k.ensure(within); err != nil {
		k.drop()
		return "", asContextError(err)
	}
	c := newContext(s, language, codeinterp.ContextOptions{Cwd: r.Cwd}, k)
	c.dir = r.Dir
	c.lost = k.takeLost()
	c.fresh = c.lost
	return c.id, s.add(c)
}

// asContextError tells a kernel that is gone as ErrContext.
func asContextError(err error) error {
	if isGone(err) || err == errGone {
		return fmt.Errorf("%w: the kernel is gone", codeinterp.ErrContext)
	}
	return err
}

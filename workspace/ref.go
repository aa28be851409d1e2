package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/shell"
)

// A Ref says what a workspace has, for [Open] in another process. Its JSON form is stable:
// later versions read it. It holds no secrets, but command lines.
type Ref struct {
	Version int    `json:"version"` // 1
	Name    string `json:"name"`

	// Events is the number of the last event. [Open] goes on with the next one. Who has seen
	// later events sets it to the number of the last of those.
	Events uint64 `json:"events"`

	Contexts []ContextRef `json:"contexts,omitempty"`
	Commands []CommandRef `json:"commands,omitempty"` // in the background, still running
	Dir      string       `json:"dir,omitempty"`      // see [Capabilities]
}

// A ContextRef is a context of a [Ref].
type ContextRef struct {
	Interpreter string               `json:"interpreter,omitempty"`
	ID          codeinterp.ContextID `json:"id"`
	Language    string               `json:"language"`
	// Ref is empty if the context ends with its process.
	Ref codeinterp.Ref `json:"ref,omitempty"`
}

// A CommandRef is a command of a [Ref].
type CommandRef struct {
	ID      shell.ID  `json:"id"`
	Command string    `json:"command"`
	Cwd     string    `json:"cwd,omitempty"`
	Started time.Time `json:"started"`
	// Ref is empty if the command ends with its process, as terminals do.
	Ref codeinterp.Ref `json:"ref,omitempty"`
}

const refVersion = 1

// Ref returns what the workspace has now. It waits for no run, so a program can store it
// whenever contexts and commands come and go, and needs no time to do so before it is killed. Contexts
// outlive the process where the interpreter has [codeinterp.Attaches].
func (w *Workspace) Ref(ctx context.Context) (Ref, error) {
	return w.ref(ctx, codeinterp.ContextAttacher.Refer, func(*shell.Shell, context.Context, shell.ID) error { return nil })
}

// Detach waits for the runs in progress, closes the workspace, and leaves the contexts and
// commands to [Open] that can be left. After an error some of them may be gone.
func (w *Workspace) Detach(ctx context.Context) (Ref, error) {
	ref, err := w.ref(ctx, codeinterp.ContextAttacher.Detach, (*shell.Shell).Detach)
	return ref, errors.Join(err, w.Close())
}

func (w *Workspace) ref(ctx context.Context, take func(codeinterp.ContextAttacher, context.Context, codeinterp.ContextID) (codeinterp.Ref, error),
	leave func(*shell.Shell, context.Context, shell.ID) error) (Ref, error) {
	r := Ref{Version: refVersion, Name: w.name, Dir: w.dir}
	var errs []error
	for _, name := range w.order {
		m, ok := codeinterp.Manager(w.raw[name])
		if !ok {
			continue
		}
		a, attaches := codeinterp.Attaches(w.raw[name])
		list, err := m.ListContexts(ctx)
		errs = append(errs, err)
		for _, info := range list {
			c := ContextRef{Interpreter: name, ID: info.ID, Language: info.Language}
			if attaches {
				c.Ref, err = take(a, ctx, info.ID)
				errs = append(errs, err)
			}
			r.Contexts = append(r.Contexts, c)
		}
	}
	if w.shell != nil {
		list, err := w.shell.List(ctx)
		errs = append(errs, err)
		for _, c := range list {
			if !c.Running {
				continue
			}
			if c.Ref != "" {
				errs = append(errs, leave(w.shell, ctx, c.ID))
			}
			r.Commands = append(r.Commands, CommandRef{c.ID, c.Command, c.Cwd, c.Started, c.Ref})
		}
	}
	w.stream.mu.Lock()
	r.Events = w.stream.seq
	w.stream.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("workspace %q: %w", w.name, err)
	}
	return r, nil
}

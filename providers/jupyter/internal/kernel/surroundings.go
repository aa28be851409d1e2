package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// Surroundings are the directory, environment and input of a program.
type Surroundings struct {
	Cwd   string
	Env   map[string]string
	Stdin []byte // nil: none
	// Dir names a private directory, which outlives its kernels.
	Dir string
	// Once: the process is for one program.
	Once bool
}

// Furnish sets a context's directory and environment in the kernel's process, once. With
// an empty Cwd it creates the directory that Dir names, if the kernel can. Options that the
// kernel cannot honor are ErrInvalid.
func (k *Kernel) Furnish(ctx context.Context, s Surroundings) error {
	if k.IsFurnished() {
		return nil
	}
	d := k.dialect
	if s.Cwd != "" || d.start == nil {
		s.Dir = ""
	}
	if s.Dir != "" || s.Cwd != "" || len(s.Env) > 0 {
		if d.start == nil {
			return k.unable("environment or directory")
		}
		if err := k.Hidden(ctx, d.start(s)); err != nil {
			return refusedSurroundings(err)
		}
	}
	k.noteFurnished()
	return nil
}

// Moves reports whether kernels of this kind take a directory and an environment.
func (k Kind) Moves() bool { return k.dialect.start != nil }

// Enter sets the surroundings of the next program, and restores those of the
// former one if that was left undone.
func (k *Kernel) Enter(ctx context.Context, s Surroundings) error {
	d := k.dialect
	switch {
	case d.enter == nil && s.Stdin != nil:
		return k.unable("standard input")
	case d.enter == nil && len(s.Env) > 0:
		return k.unable("environment")
	case d.enter == nil:
		return nil
	}
	err := k.Hidden(ctx, d.enter(s))
	if e, ok := asRefusal(err); ok {
		// What the caller gave was looked at before; the rest is the kernel's own state.
		return server.Unavailable("the kernel could not prepare the run: %.2000s", ansi.Strip(e.Error()))
	}
	return refusedSurroundings(err)
}

// Leave restores the surroundings of before Enter.
func (k *Kernel) Leave(ctx context.Context) error {
	if k.dialect.enter == nil {
		return nil
	}
	return k.Hidden(ctx, k.dialect.leave)
}

// Finish deletes a private directory, unless dir is empty, and reports whether nothing that
// programs started still runs, false if unknown.
func (k *Kernel) Finish(ctx context.Context, dir string) (quiet bool) {
	if k.dialect.finish == nil || k.IsDown() {
		return false
	}
	out, err := k.evaluate(ctx, "", map[string]string{"quiet": k.dialect.finish(dir)})
	return err == nil && out["quiet"].IsTrue()
}

// unable is the error for what the kernel cannot do.
func (k *Kernel) unable(what string) error {
	if k.Foreign {
		return fmt.Errorf("%w: programs get no %s of their own in adopted kernels", codeinterp.ErrInvalid, what)
	}
	return fmt.Errorf("%w: kernel %q takes no %s", codeinterp.ErrInvalid, k.Kind.Name, what)
}

// refusedSurroundings makes ErrInvalid of a refusal by the kernel; nil stays nil.
func refusedSurroundings(err error) error {
	if e, ok := asRefusal(err); ok {
		return fmt.Errorf("%w: %.2000s", codeinterp.ErrInvalid, ansi.Strip(e.Error()))
	}
	if errors.Is(err, errDied) || errors.Is(err, errSocketLost) {
		return fmt.Errorf("%w: %w", ErrNeverRan, err)
	}
	return err
}

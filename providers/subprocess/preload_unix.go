//go:build unix

package subprocess

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// unlimited is for what imports what is preloaded and runs no program.
var unlimited = sandbox.Limits{Memory: -1, Processes: -1, CPU: -1, FileSize: -1, Disk: -1, Inodes: -1, OpenFiles: -1}

// waiting starts a process up to where it waits for its configuration, and has
// imported what is preloaded, which may take what it is given for that.
func (h *host) waiting(ctx context.Context, l *language, ahead sandbox.Ahead) (*process, error) {
	p, err := h.begin(l, &place{cwd: h.dir, ahead: ahead})
	if modules := h.preloads(l); err == nil && len(modules) > 0 {
		p.sb.Rest() // nobody's program runs there
		if err = p.preload(ctx, modules); err != nil {
			p.kill()
			return nil, err
		}
	}
	return p, err
}

// tryPreload finds out whether the modules can be imported, and returns what a process
// that is kept ready may use for that: more time than it took now, since files that are
// not in memory and a busy machine can take more.
func (h *host) tryPreload(l *language) (ahead sandbox.Ahead, err error) {
	modules := h.preloads(l)
	if len(modules) == 0 {
		return ahead, nil
	}
	p, err := h.begin(l, &place{cwd: h.dir, limits: unlimited})
	if err != nil {
		return ahead, err
	}
	defer p.kill()
	if err = p.preload(h.life, modules); err == nil {
		ahead = p.sb.Ahead()
		ahead.CPU += ahead.CPU
	}
	return ahead, err
}

// preload has a process import modules before it is configured.
func (p *process) preload(ctx context.Context, modules []string) error {
	_ = p.send(framePreload, modules...) // where it fails, so did the process
	select {
	case <-p.ready:
		return nil
	case <-p.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case problem := <-p.hello: // it has said so and ended
		if _, err := helloError(problem); err != nil {
			return err
		}
	default:
	}
	return unready(fmt.Sprintf("%s: %s", strings.Join(modules, ", "), p.startupMessage()))
}

// unready words what came of importing what is preloaded.
func unready(problem string) error {
	return fmt.Errorf("%w: preload of %s; install it for this Python, which reads no PYTHONPATH, or leave it out of what is preloaded", codeinterp.ErrUnavailable, problem)
}

func (p *process) takeReady() error {
	select {
	case p.ready <- struct{}{}:
		return nil
	default:
		return fmt.Errorf("%w: ready a second time", errFrame)
	}
}

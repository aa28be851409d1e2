//go:build unix && !linux

package subprocess

import (
	"context"
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

type keepers struct{}

func (*keepers) reason() string { return "" }

func (*keepers) start(context.Context, *host, *language, *driver.Options) (driver.Session, error) {
	return nil, codeinterp.ErrUnavailable
}

func (h *host) openKeep() error {
	if h.opts.Keep == nil {
		return nil
	}
	return fmt.Errorf("%w: Keep needs Linux", codeinterp.ErrUnavailable)
}

func (h *host) withKeep() driver.Runtime { return h }

func runKeeper() {}

//go:build unix && !linux

package subprocess

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

func (h *host) keeping() (driver.Runtime, error) {
	if h.opts.Keep != nil {
		return nil, fmt.Errorf("%w: Keep needs Linux", codeinterp.ErrUnavailable)
	}
	return h, nil
}

func runKeeper() {}

//go:build unix && !linux

package rootfs

import (
	"fmt"

	"github.com/toolcell/toolcell/codeinterp"
)

// Do calls f. A host that is root cannot take the rights of another user for a
// while here.
func (u *User) Do(f func()) error {
	if u != nil {
		return fmt.Errorf("%w: files of another user", codeinterp.ErrUnavailable)
	}
	f()
	return nil
}

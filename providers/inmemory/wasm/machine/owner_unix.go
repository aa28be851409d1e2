//go:build unix

package machine

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner refuses a directory that others may write to.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(s.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s is no directory of this user that others cannot write to", dir)
	}
	return nil
}

//go:build unix

package probecache

import (
	"fmt"
	"os"
	"syscall"
)

// private reports whether only the user can write to a directory.
func private(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// Stamp changes when a file does. It is empty for a file that does not exist.
func Stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d %o %d", st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano(), st.Mode, st.Uid)
}

package probecache

import (
	"crypto/sha256"
	"syscall"
)

// attribute is the extended attribute with the SHA-256 of a file's content.
const attribute = "user.toolcell.sha256"

// seal marks a file as written by the host with content b.
func seal(file string, b []byte) error {
	sum := sha256.Sum256(b)
	return syscall.Setxattr(file, attribute, sum[:], 0)
}

// sealed reports whether the host wrote b to a file.
func sealed(file string, b []byte) bool {
	sum, got := sha256.Sum256(b), make([]byte, sha256.Size)
	n, err := syscall.Getxattr(file, attribute, got)
	return err == nil && n == len(got) && sum == [sha256.Size]byte(got)
}

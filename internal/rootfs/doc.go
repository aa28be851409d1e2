// Package rootfs is a directory of the host that untrusted programs change at the same
// time, as a [codeinterp.FS], and finds what they changed in it.
//
// Nothing that they do to it leads out of it: paths are walked by os.Root, FIFOs, sockets
// and devices are neither read nor waited for, and where programs run as another user than
// the host, so does every operation on their files.
package rootfs

// A User is who the programs run as.
type User struct{ UID, GID int }

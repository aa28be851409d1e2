package sandbox

import "golang.org/x/sys/unix"

// openDirOnly asks for a descriptor that names a directory and cannot read it.
const openDirOnly = unix.O_PATH

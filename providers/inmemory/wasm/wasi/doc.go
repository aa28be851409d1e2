// Package wasi gives a WebAssembly module the system interface that C libraries expect,
// version preview1, of what an embedded engine has: the files of a context in memory, a
// clock, randomness, and standard streams.
//
//	s := wasi.New(wasi.Config{Files: files, Library: pack, LibraryDir: "usr/lib/python"})
//	errno := wasi.Functions["fd_read"].Call(s, memory, args)
//
// There is one directory, the root. Beside the context's files it shows a library, which
// can only be read, and /tmp, which is made when something is written there.
//
// # Limits
//
//   - No sockets, links, permissions, users or processes.
//   - 512 files may be open at the same time.
//
// # Security
//
// Nothing here reaches the host's files, network, environment or processes. Every address
// that a module gives is checked against its memory.
package wasi

// Package machine runs WebAssembly modules inside the process, bounded and stoppable, on
// wazero.
//
//	m, err := machine.Compile(ctx, source, &machine.Options{Imports: imports, Yield: "host.yield"})
//	in, err := m.Start(&machine.Config{Image: m.Image(), Memory: 256 << 20, Budget: budget})
//	result, err := in.Call("run")
//
// A module is compiled once. Each instance has a memory of its own, which begins as a
// copy of an image: only the pages that it writes are copied. An image is made of a
// module's data, or of the memory of an instance that is between two calls.
//
// # Limits
//
//   - Processors amd64 and arm64. To compile takes a second for each four megabytes of a
//     module or so; with Options.Cache a later process loads the result.
//   - Images are shared in memory under Linux and by temporary files under other kinds of
//     Unix; elsewhere each instance copies its image.
//   - Each instance reserves addresses as large as its limit, not memory.
//
// # Security
//
// A module reaches its own memory and the functions that it imports, nothing else, as far
// as wazero's compiler is right. The cache holds native code: its directory must belong to
// the user alone, which Compile checks.
package machine

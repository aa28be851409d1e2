// Package inmemory runs code in engines that are part of the host program:
// nothing to install, contexts that cost microseconds.
//
//	ci, err := inmemory.NewStateful(nil) // JavaScript
//	res, err := ci.RunCode(ctx, "javascript", "[1, 2, 3].map((x) => x * x)", nil)
//
// TypeScript is a second engine on top of the first, in a package of its own,
// so that only programs that ask for it link its compiler:
//
//	js := quickjs.New(nil)
//	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
//
// Other languages are further implementations of engine.Engine.
package inmemory

// Package typescript makes JavaScript of TypeScript by erasing the types.
//
// What is no JavaScript is replaced by blanks, so that every line and, but for
// the lines that text was written into, every column stays where it was. Enums,
// namespaces, parameter properties, TypeScript's experimental decorators and
// import assignments are written out in place.
//
// # Bounds
//
// Sources come from programs that nobody trusts, and no goroutine can be given
// a bounded stack. So the parser bounds itself: constructs nest at most
// [MaxDepth] deep, and what merely chains (operators, calls, else if,
// conditionals, arrow functions) is parsed by loops. Every token costs a step,
// also where it is looked at again, and steps are at most a small multiple of
// the source's length: the time is linear in the source whatever the source.
// The context is asked every thousand steps. What the parser keeps beside the
// source is at most a small multiple of the source's size.
//
// # What is erased, and how
//
// Types are not checked: a program with type errors runs. What is invalid
// JavaScript apart from its types is mostly left for the engine to say, so that
// its message is the same in both languages.
//
// Imports are kept, also of names that are only types; write import type for
// those. Fields are defined as in JavaScript: one without an initializer is
// undefined, and initializers run before the body of a constructor without a
// base class, its parameter properties included.
//
// A namespace's exports may be used by name in its own body and, but for let and
// var, in those of later declarations of the same name in the program: write N.a
// elsewhere. What a namespace exports as let or var is an accessor of the
// namespace's object.
//
// Decorators are the experimental ones of TypeScript 3 and 4, as with the
// compiler option experimentalDecorators, without metadata: no engine has the
// standard's yet. Within a decorated class its name is the class before it was
// decorated. Decorators in class expressions, of computed names, and of classes
// without a name are refused. JSX is refused too.
package typescript

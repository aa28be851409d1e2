// Package typescript makes JavaScript of TypeScript by erasing the types.
//
// What is no JavaScript is replaced by blanks, so that every line and almost every
// column stays where it was. Enums, parameter properties and import assignments are
// written out in place. It also rewrites JavaScript
// programs, see [GuardLoops], [MarkLoops], [Script] and [Replace].
//
// Types are not checked: a program with type errors runs. Imports are kept, also of
// names that are only types; write import type for those. Fields are defined as in
// JavaScript.
//
// # Limits
//
// Namespaces with values, decorators, accessor, using, JSX and merging of declarations are a SyntaxError that
// says so. A member of an enum that is a text does not lead back to its name. Constructs
// nest at most [MaxDepth] deep.
//
// # Security
//
// Sources are untrusted. The parser bounds its depth itself, since no goroutine can be
// given a bounded stack; its steps and what it keeps are a small multiple of the
// source's length, and it asks the context every thousand steps.
package typescript

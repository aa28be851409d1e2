// Package typescript makes JavaScript of TypeScript by erasing the types.
//
// What is no JavaScript is replaced by blanks, so that every line and almost every column
// stays where it was. Enums, parameter properties and import assignments are written out in
// place. It also rewrites JavaScript programs, see [GuardLoops], [MarkLoops], [Script] and
// [Replace].
//
//	Types are not checked, and imports are kept: see package providers/inmemory/typescript.
//
// # Limits
//
// Constructs nest at most [MaxDepth] deep.
//
// # Security
//
// Sources are untrusted. The parser bounds its depth; its steps and memory are a small
// multiple of the source's length, and it asks the context every thousand steps.
package typescript

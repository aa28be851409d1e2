// Package source finds in the text of JavaScript programs what the engine does not say:
// import and export declarations, exported names and places of declarations. It reads
// tokens, not a syntax tree: a program that it does not understand stays as it is.
package source

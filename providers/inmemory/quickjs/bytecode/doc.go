// Package bytecode corrects what QuickJS compiles, where it would give another value
// than the language does:
//
//   - continue in a for (let ...) loop does not begin a new round's variables
//   - an exception leaves the variables of the blocks that it ends open, so that
//     closures of the next round share them
//   - a text that is spread into an object adds nothing to it
//   - a closure in the default of a parameter has variables of its own for the parameters
//
// A correction inserts instructions and moves jumps. It changes neither the source's
// text nor its positions. Functions without such places are left as they are, after one
// pass over their code.
package bytecode

// Package pyframes holds what takes the frames of the code that runs Python programs
// from the tracebacks of their errors. All providers that run Python embed the same
// source, and each says which frames are not the program's.
package pyframes

import _ "embed"

// Name is the name of the file that the code which runs programs is compiled as: its
// frames are known by it.
const Name = "<toolcell>"

// Source defines drop_frames(error, dropping), which takes the frames that
// dropping(outermost) tells from the tracebacks of an error and of those that it came
// of or holds, and relinked(tb, drops), which does that for one traceback. It imports
// nothing.
//
//go:embed frames.py
var Source string

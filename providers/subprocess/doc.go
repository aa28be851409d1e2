// Package subprocess runs programs with the interpreters of this machine:
// python, javascript and typescript (node), bash, and whatever a table entry
// describes.
//
//	ci, err := subprocess.NewStateful(nil)
//	defer ci.Close()
//	res, err := ci.RunCode(ctx, "python", "print(6 * 7)", nil)
//
// [New] gives each program a process and a working directory of its own, which
// are gone when RunCode returns. [NewStateful] adds contexts: one process each,
// in which programs run one after the other.
package subprocess

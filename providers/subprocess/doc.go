// Package subprocess runs programs with the interpreters of this machine:
// python, javascript and typescript (node), bash, and whatever a table entry
// describes (see [Language]).
//
//	ci, err := subprocess.NewStateful(nil)
//	defer ci.Close()
//	res, err := ci.RunCode(ctx, "python", "print(6 * 7)", nil)
//
// [New] gives each program a process and a working directory of its own, both
// gone when RunCode returns. [NewStateful] adds contexts: one process each, in
// which programs run one after the other.
//
// # What programs find
//
// Python programs run in a real __main__: pickle, dataclasses, multiprocessing
// by fork, inspect.getsource of functions and tracebacks with source lines
// work. The last expression is the result, with its JSON value where that is
// faithful, its repr and its rich representations; a semicolon after it hides
// it. display, update_display and clear_output are builtins, and what
// IPython.display exports where IPython is not installed (HTML, Markdown, Image
// and their like; get_ipython returns None). matplotlib figures are shown as
// PNG by plt.show and at the end of the run. Top-level await works. IPython's
// magics are refused. The working directory is last on sys.path, so files in it
// can be imported and shadow nothing. Without RunOptions.Stdin, input fails at
// once.
//
// JavaScript runs by the rules of V8's REPL mode: top-level await; const, let
// and class may be declared again by a later program; the value of the last
// statement is the result. Static imports become dynamic ones, export is
// ignored. console and process.stdout write at once. display(mime, data,
// {id, update, metadata}) shows data or a bundle, clearOutput({wait}) clears.
// RunCode waits for timers and servers as node does; in a context a program
// ends when its last await is done, and what its timers print later is late. An
// unhandled rejection or exception ends the run as an error. TypeScript has its
// types taken out, not checked: by node's own type stripping where node has it
// (22.13 and later), else, and for what stripping refuses (enum, namespace,
// parameter properties, decorators), by esbuild; the Runtime that Describe gives
// says which. Positions in errors are those of the TypeScript. Node takes some
// 30 ms to load its stripper, in each new process, which a warm one has behind
// it.
//
// Bash programs run in the context's own shell: variables, functions, options,
// aliases, traps and the working directory stay. There are no values and no
// displays. The run's exit code is that of the last command.
//
// # Output
//
// Standard output and error are pipes that belong to the program: what C
// extensions, os.write and child processes write is captured too, byte for
// byte, as it comes. Pieces that come within two milliseconds are delivered
// together. Order holds within a stream and between displays and streams;
// between the two streams it is that of arrival. What a context's threads and
// children write after the end of a run comes with the next one, marked Late,
// up to 1 MiB; what they write during a later run is told apart only for
// Python's own print.
//
// # Ends
//
// A run of a context that has to stop is interrupted (SIGINT to the program
// and its children), and killed after Options.Grace. The state is lost if it
// was killed; if node was interrupted while something other than a timer was
// under way, which could otherwise go on; and if process.exit is called after
// an await. RunCode kills at once. A bash program that exits or is interrupted
// leaves its state to a new shell that takes the process over. A driver that
// breaks the protocol, or whose program closes its channel, is killed: driver
// and program share a process and can forge each other's messages, but not what
// the host sees of the process.
//
// # Warm starts
//
// With Options.Warm, python is forked from a server that has imported the
// modules of Warm.Preload, where the isolation allows it (not in bwrap mode);
// all other languages come from a pool of started processes. Each process
// serves one run or one context. All forked processes of an interpreter run as
// the same user, but cannot reach each other's directories in landlock mode.
// matplotlib builds a font cache in each new home directory, which takes a
// second; preload matplotlib.pyplot.
//
// # Security
//
// [Options] and Describe say what stands between programs and the host; see
// also the limits of each mode there. In bwrap and landlock mode programs see
// no files of the host but the system's, the interpreter's and those that the
// options list; no network unless Options.Network is set; no processes but
// their own; and the environment has nothing of the host's. A context's Cwd is
// made writable for it. None mode isolates nothing and has to be allowed. The
// kernel is shared: none of this is a virtual machine.
//
// # Limits
//
// In a child that a Python program forks, the control channel stays open.
// inspect.getsource of classes does not work, as in Python's own REPL. The spawn and forkserver methods of
// multiprocessing cannot import what a program defines. Host files need a path
// that the program's user can reach: an interpreter below /root is not used by
// a root host.
//
// Linux is supported in full; other Unixes with None mode only; Windows not at
// all: New returns codeinterp.ErrUnavailable.
package subprocess

// Package subprocess runs programs with the interpreters of this machine: python,
// javascript and typescript (node), bash, and what a table entry describes (see
// [Language]).
//
//	ci, err := subprocess.NewStateful(nil)
//	defer ci.Close()
//	res, err := ci.RunCode(ctx, "python", "print(6 * 7)", nil)
//
// [New] gives each program a process and a working directory of its own; both are gone when
// RunCode returns. [NewStateful] adds contexts: one process each, which runs programs one
// after the other.
//
// # Interpreters
//
// A language's Commands are searched in the Python environment that VIRTUAL_ENV or
// CONDA_PREFIX names, on PATH, and where systems keep interpreters. The first one that
// works is used. LanguageInfo has its path, and what was passed over and why. The host
// starts each candidate once to ask its version, so programs must not be able to write
// where interpreters are searched: a file in Options.Dir or Options.Writable is never
// started by the host.
//
// Package environments makes Pythons, and directories of Node.js packages, by name;
// [InEnvironment] returns the languages that use one. With [Options].Install programs
// install missing packages themselves.
//
// # Languages
//
// python: programs run in a real __main__. The last expression is the result. display,
// update_display and clear_output are builtins, figures of matplotlib are shown, and await
// works at the top level. Threads and asyncio tasks of a context live on after a run.
// IPython's syntax (%magics, !commands, name?) is translated; _ and _N are earlier values.
//
// javascript, typescript: programs run in V8's REPL mode: a later program may declare names
// again. The last value is the result; a promise is awaited. A run ends when its timers,
// promises, requests and children are done; a listening server does not hold it.
// process.exit ends a context's state. TypeScript's types are erased, not checked.
//
// bash: programs run in the context's shell and have no values or displays. The exit code
// is that of the last command. exit, exec and a failure under set -e end the shell, and
// with it the context's state. A run whose shell exits with code 0 is lost: whether the
// program came to its end is not known.
//
// Host functions are tools.name(**args) and await tools.aio.name(**args) in Python, await
// tools.name({...}) in JavaScript, and tool name '{"json": 1}' in bash. A failed call
// raises ToolError; bash prints the message and fails. Without Stdin or Input, standard
// input is empty.
//
// # Files and output
//
// codeinterp.Files opens a context's directory, RunOptions.Files are copied into it, and
// RunOptions.Artifacts returns what changed in it. With [Options].Dir all programs share a
// directory of the host, and OpenDir opens it.
//
// What children and C libraries write is captured too. Order holds within a stream. What
// threads, tasks and children of a context write after their run comes with the next run,
// marked Late, up to 1 MiB.
//
// # Ends
//
// A run of a context is interrupted with SIGINT and killed after Options.Grace; then its
// state is lost. RunCode kills at once. A program that ends its process ends the context's
// state. Driver and program share a process: a program can forge its own messages, but no
// other program's, and not what the host sees of the process.
//
// # Contexts that outlive the host
//
// With [Options].Keep each context, and each command in the background, is started below a
// process of its own, its keeper, and codeinterp.Attaches hands it on to another process of
// the same user, also after the host was killed in a run: the run goes on within its timeout,
// and Keep.Spool bytes of its output wait for the next process. The keeper ends with it, or
// when no process had it for the lease.
//
// # Warm starts and copies
//
// With [Options].Warm, Python is forked from a server that has imported Warm.Preload;
// bubblewrap mode and other languages use a pool of started processes. A process serves one
// run or one context. If the file of an imported module changes, new ones import it again.
//
// With [Options].Forks, codeinterp.Forks copies contexts of Python, with their files. Threads,
// children and asyncio's tasks stay with the original; other files, removed ones, pipes and
// sockets that are open, and mapped files (mmap, numpy.memmap, SQLite's WAL), are shared with it.
//
// # Limits
//
//   - Options.Dir has no quota; Limits.Disk and Inodes bound other directories, each while its
//     context is active: a context can fill that of an idle copy of its own.
//   - Memory, disk and CPU time are measured some times a second, so a fast program can
//     exceed a limit before it ends. Use a cgroup (Options.Sandbox.Cgroup) for hostile
//     programs; Describe says whether there is one.
//   - OMP_NUM_THREADS and OPENBLAS_NUM_THREADS are 1 unless Options.Env sets them, so numpy
//     uses one core.
//   - Artifacts looks at 50,000 files and 128 levels; Result.Truncated reports more.
//   - Completions call nothing: there are none behind properties, getters and proxies.
//   - Python: multiprocessing works by fork only, unless the program has a file. An
//     interrupt in asyncio's own code can break a context's loop.
//   - JavaScript: static imports are dynamic ones; export is ignored. node keeps a module
//     that failed to load. Files that a TypeScript program imports are not translated.
//   - Languages without a Driver have Stdin, but no Input, values or contexts.
//   - Linux has all modes, other Unixes None. On Windows, New returns codeinterp.ErrUnavailable.
//
// # Security
//
// Describe reports the isolation in force. On a root host programs run under another user
// in every mode. Programs see nothing of the host's environment. The kernel is shared: this
// is no virtual machine.
//
//   - Bwrap: programs see the system's files, the interpreter, what the options list, their
//     directory (at /workspace or its own path), and private /tmp, /dev/shm and /proc.
//     Without Options.Network only loopback works. There are no Unix sockets. Nothing
//     survives the host.
//   - Landlock: other files are refused, but stat and readlink show names, sizes and links.
//     The user has no name. /proc is closed and there is no /dev/shm, so multiprocessing
//     has no Lock, Queue or Pool. Without Options.Network there are no sockets. Below Linux
//     6.12, programs under the host's own user can signal the host; this needs
//     Options.Sandbox.AllowSignals.
//   - None: limits and a process group only. Programs can do what their user can.
//   - A context and its copies can reach each other's directories and processes: they are
//     one program that goes on in several ways.
//   - A context may change its Cwd as far as its user's rights go: that is the directory's owner
//     on a root host. Do not share one between programs that must not disturb one another.
package subprocess

// Package jupyter runs code in the kernels of a Jupyter Server (1.x, 2.x), a
// Kernel Gateway, an Enterprise Gateway or a JupyterHub user server, over their
// REST and WebSocket API. Only the URL tells them apart, so code that outgrows
// one machine moves to a cluster without a change.
//
//	ci, err := jupyter.NewStateful(ctx, &jupyter.Options{
//		URL: "http://localhost:8888", Token: token})
//
// [New] starts a kernel for each run and deletes it; with [NewStateful] each
// context is a kernel, and [Stateful.Ref], [Stateful.Detach] and
// [Stateful.Attach] hand a context on to another process. [Sweep] deletes what
// crashed clients left behind. Languages are those of the server's kernelspecs:
// the default one, or the one that is called like it, serves a language by its
// name, and each other as LANGUAGE@KERNELSPEC, such as "python@conda-env".
//
// # How a run ends
//
// A run is over when the kernel has both answered and gone idle, in whichever
// order; when its process died, which the server says without naming the run;
// or when the kernel is gone. Timeout and cancellation interrupt the program,
// and restart its kernel if it is not over within Options.Grace;
// Result.StateLost tells which. A call whose ctx has ended waits 3 s for that: then
// its error says that the program may still run, the kernel is given up, and it is
// deleted before anything else runs in the context. Where an interrupt hits the kernel while it
// reports the end, the kernel is asked instead of killed. An interrupt that the
// server has not answered is waited for before the next program begins, half a
// minute at most: then, as where its answer was lost, the kernel is given up with
// its state, for it would hit what runs next. In an adopted kernel, which is not
// given up, a run that did not begin tells it. A kernel whose kernelspec wants a
// message for an interrupt is asked itself, and its answer is waited for so.
//
// Where the kernel's answer was lost, it is asked how the program ended, which
// Python kernels know. Where nobody knows, and where the server does not come
// back within Options.ReconnectTimeout, the run is StatusLost with CauseServer
// and an ErrUnavailable: the program may have ended well, and in the second case
// it may still be running. The context's next run ends it first (it is
// interrupted, and killed if that does not help) and says so in a late line. A
// kernel that is slow, or busy with other clients, is waited for and never
// replaced; one that answers nothing while its server calls it idle is asked by a
// socket of its own before ours is given up.
//
// A kernel that asks for input gets the next line of RunOptions.Stdin; where
// there is none, the program is interrupted and its error is EOFError. In
// Python kernels input(), getpass and sys.stdin raise EOFError at once, and the first two
// read from what a program made its sys.stdin.
//
// An interrupt that comes between two requests can leave a kernel alive and unresponsive:
// ipykernel and IRkernel end their loop then, and the server goes on calling them
// idle or busy. A kernel that was interrupted is asked before the next program
// begins, and one of ours that answers nothing for 20 seconds, with no other client
// connected, is restarted, which a late line and StateLost tell.
//
// A lost socket is dialled anew under the same session name; the server replays
// what it kept, duplicates are dropped, and ipykernel's numbering shows whether
// anything is missing. If so, or if that cannot be known, Result.Truncated says
// "connection". What a server drops by its rate limit is reported as "rate";
// Options.Spill takes Python's output around the limit, in its order. A kernel whose process
// dies under a run, or is killed to end it, may take the last of its output with it,
// flushed or not, for it sends by a thread of its own: that such a loss is possible is
// reported as "exit".
//
// A process that dies between two runs is missed by its server after some seconds only,
// and what is sent meanwhile waits for the one that takes its place. A Python program is
// sealed for the process that was set up for its context: another one runs nothing of
// it, is set up, and gets it anew, so that the run tells StateLost and no more. Other
// kernels are asked for a sign before a run that begins a tenth of a second or more after
// their last. One whose process dies between that sign and the run, and one of Python
// that refuses the setup, runs the program in the new process, without the context's
// directory and environment; StateLost tells it, unless the kernel signs with the name of
// whoever asks. What is sent in the moment of the death itself is lost with the process,
// and so is the run, for nobody knows whether it began.
//
// # Functions of the host
//
// Programs of Python kernels call what RunOptions.Functions and
// ContextOptions.Functions give as tools.name(**args), from any thread, and as
// await tools.aio.name(**args); a failure is a ToolError with name, the
// function's, and message.
// The calls travel through the kernel's stdin channel: one pump in the kernel sends what is pending as one
// input_request, marked with a nonce, and answers come as input_replies of at
// most about a megabyte each. Both are numbered, and what was under way when the
// socket was lost is sent again over the next one, once. input() and getpass are
// what they are without functions. Kernels of other languages, adopted ones and
// those that refuse the setup have no functions. Arguments of one call are at
// most a third of Options.MaxMessage, less 2 MiB; a process that the program
// forked cannot call. What an earlier run has left calls nothing in a later one:
// tasks, threads, and what a pool of threads does, which is the run's that gave it
// that, whichever run made the pool.
//
// # Files
//
// Files of Python kernels' contexts (codeinterp.Files), inputs and artifacts
// travel by hidden requests on the kernel's control channel, at most 1 MiB in
// each, so that gateways work too, which have no contents API. ipykernel 6 and
// later serve that channel in a thread of its own: a program that computes is in
// nobody's way. One that lets no other thread run is, and so is an OnOutput that
// waits for a file while more than 4 MiB of output wait for it: after 15 seconds
// the operation fails with an ErrUnavailable that says that the kernel is busy.
// Between two runs a kernel that is gone is replaced first. An open file is opened
// anew by each request, and has to be the same file under the same name: one that
// a program has moved away is fs.ErrNotExist. A kernel's host needs to be POSIX.
//
// With Options.Dir all programs start in one directory of the kernels' host, in
// contexts and without; it stays.
//
// Artifacts are found by two looks at the whole directory, in the kernel, and
// hashed there; those of a run whose kernel died, or had to be ended, are missing,
// which Result.Truncated says.
//
// # Commands
//
// Where there is a Python kernel there are commands (codeinterp.Commands). The first
// one starts a kernel that is kept for them, in which no program runs; a shell of its
// host, bash if it is there, is the child of a guard of its own, a process of that
// kernel. Standard output and error are two pipes, byte by byte and in no terminal.
// They are emptied by requests of at most half a megabyte, the next when OnOutput has
// taken the last: a slow reader slows the command down, and no rate limit drops
// anything. Requests are numbered by bytes, so that a lost connection loses nothing
// and doubles nothing; where the server does not come back within
// Options.ReconnectTimeout, the run is StatusLost with an ErrUnavailable. Without
// Options.Dir a command has a private directory, which goes with it.
//
// The guard ends what the command started with it, what went into a session of its
// own included, and all of it when the kernel dies or its orders end. Half a minute
// after Options.ReconnectTimeout without a word of their client, commands are ended.
// On a host that is no Linux, what left the command's process group lives on.
//
// # What is set up in a kernel
//
// Python kernels (IPython) are given, by hidden requests that leave no name and
// no history: the JSON form of values; sys.exit and exit() that end the run as a
// process ends (their message on standard error, no Error) and keep the kernel, also
// in a task, where they end its run as it awaits: what that awaits is canceled, and
// however it goes on, the exit is the outcome. In a task of an earlier run they end no
// more than the task, and a late line on standard error tells it. KeyboardInterrupt in a
// task ends the run that awaits, as its Error, and so does what a handler of a signal raises;
// asyncio.run and loops of the program's own, beside the kernel's, and those that
// loop.run_until_complete would run in it; loop.stop that ends what the run
// awaits with a RuntimeError, and not the kernel (run_forever of its loop is another); sys.stdout.buffer, close and reconfigure, and a
// UnicodeEncodeError for text that UTF-8 cannot carry; whole characters from
// child processes, drained before the run ends; errors whose frames are the
// program's and its libraries', without what prints, shows and asks for it; in RunCode,
// the wait for the program's threads that are no daemons; environment, directory and standard input, out
// of band, so that line numbers, %%magics and __future__ imports are unharmed.
// Runs of RunCode, and contexts without a Cwd, start in a private directory of
// the kernel's host, which is left behind where the kernel is killed at the end. Deno's
// kernel gets values, exit, process.stdout, environment and directory;
// bash_kernel the environment and directory of contexts; other kernels run as
// they are, and options that they cannot honour are ErrInvalid. So do kernels
// that refuse the setup, such as those for Python without IPython. Where a
// kernel signs its messages with the name of whoever asks, as IRkernel does, a
// process that was replaced shows by its count of runs.
//
// # What each kernel can do
//
// Found by trying, on a Jupyter Server 2 (xeus-python 0.19, IRkernel 1.3, Deno 2,
// bash_kernel 0.10, calysto_bash 0.2). Where an interrupt does not keep the state,
// a timeout and InterruptContext cost it, and StateLost says so.
//
//	              value  json  stderr  error  line  exit  stdin  env  cwd  interrupt
//	ipykernel     yes    yes   yes     yes    yes   yes   yes    yes  yes  yes
//	xpython       yes    yes   yes     yes    -     -     yes    -    -    -
//	xpython-raw   yes    -     yes     yes    -     -     yes    -    -    -
//	IRkernel      yes    -     yes     yes    -     -     yes    -    -    yes
//	Deno          yes    yes   yes     yes    -     yes   -      yes  yes  -
//	bash_kernel   -      -     -       -      -     yes   -      -    yes  yes
//	calysto_bash  -      -     -       -      -     -     -      -    yes  -
//
// The value is the last expression's, which IRkernel sends as a display, and json
// its JSON form; stderr is a stream of its own; error is the error's name and
// message, line its line, and exit an exit code that costs no state; stdin is
// RunOptions.Stdin, env RunOptions.Env, and cwd ContextOptions.Cwd. bash_kernel
// takes ContextOptions.Env too. The death of a kernel's process is noticed of each,
// that of a shell in bash_kernel and calysto_bash too, where the second starts none
// in its place, so that its kernel is replaced.
//
// # Errors
//
// Refusals of the server are a [*server.StatusError] that names the likely cause: a
// missing token reads as "_xsrf missing" on some servers, and a gateway's 403
// may be its limit on kernels. Redirects are never followed. Tokens and
// passwords appear in no error.
//
// # Differences between servers
//
// Tried with Jupyter Server 2.21 with ipykernel 6.31 and 7.4, Kernel Gateway
// 3.0, JupyterHub 6.1 and Enterprise Gateway 3.3 (Jupyter Server 1.24, ipykernel
// 6.29):
//   - Both kernel generations send idle and reply in either order, number their
//     messages without a gap. From ipykernel 6.29 on what a thread prints
//     late is told from what the run in progress does, in 7.x also what it
//     shows; else it is taken for that run's.
//   - The default rate limits, 1,000 messages and 1 MB a second over 3 seconds,
//     are the same in 1.x and 2.x. Only streams count for the second.
//   - Enterprise Gateway speaks the JSON protocol only, in which bytes that are
//     no UTF-8 become U+FFFD. It refuses to start kernels for user root unless
//     KERNEL_USERNAME is set; see Options.KernelEnv.
//   - Servers never set TCP_NODELAY on their sockets, so that a client which
//     acknowledges late waits 40 ms per run; see the benchmarks.
//   - IPython drops blank lines before the first line of a cell;
//     ProgramError.Line counts them.
//   - IPython compiles one statement after the other: what the parser takes and the
//     compiler does not, such as return outside of a function, is a SyntaxError once
//     all that stands before it has run.
//   - ipykernel has its own handler of SIGINT for each cell: one that a program sets ends
//     with its run, and stays in providers/subprocess. Those of other signals stay in both.
//   - An error that a program catches and prints itself, by traceback.print_exc for
//     example, has frames of IPython, ipykernel and <toolcell>.
//
// # What it costs
//
// A small cell takes about as long as over a raw WebSocket to the same server
// (BenchmarkCell). Python's own client, by ZMQ on the kernel's host, takes 0.83 of
// that, measured on a busy machine. The distance is the server's: a server of the same framework
// that only carries as many messages takes 0.05, and the rest is what it does with each
// message between its two sides, which no client can change.
//
// # Limits
//
// Files of other kernels than Python's are not reached, as LanguageInfo.Files
// says, nor are those of adopted kernels; no disk quota is kept. Programs have no
// RunOptions.Input; commands do.
//
// The exit code of a kernel that died is not known to its clients: it is given
// as 137, whatever the signal. At the end of a RunCode a Python program's handlers of
// atexit are called and its files written, as at the end of a process; what handlers print
// in a context, which are called when the kernel ends, reaches nobody, nor does what those of other
// kernels print. Output of child processes that outlive their run counts as the output of the run in progress, and
// so does that of threads that C code starts, and not Python. Deno's kernel cannot be
// interrupted, so that a timeout costs its state; it shows no value for null,
// NaN and bigints, its runs end before their timers do, and output of timers after a run is not told from the next run's.
// A thrown value that is no error comes as an Error with its text; a promise that is the
// last value is shown and not awaited, and its rejection, like any that nobody handles, is not
// told; process.exitCode is not looked at; and where a timer throws while the program
// awaits, its kernel answers no more, so that the run ends by its timeout.
// bash_kernel merges the streams, and a shell that exits is given as 137 too. A
// process that a program detached from its kernel outlives it, and so does every
// child process of IRkernel, whose programs also share the server's directory. A kernel that had
// to be killed leaves its private directory below the server's TMPDIR. Servers
// buffer without limit what a slow OnOutput leaves unread; the program is not
// slowed down by it. So does a Python kernel what its server has not read; others
// drop what exceeds a thousand messages then, and nothing tells of it. What Options.Spill has
// spooled stays on the kernel's disk, without a name, until it is fetched, the next run begins or the kernel
// ends: 1 GiB at most, which is the limit of a run too. Code is completed by the
// kernel's own completer, which may call what a program has defined; one that hangs
// is interrupted before the next program, or ended with the state where that does not
// help for half a minute.
//
// # Security
//
// Code runs on the server's host with what its operator allows; this package
// adds no isolation. A program shares its kernel's process, and can forge what
// the kernel says of it: output, how it ended, and that it did, while it goes on as
// what programs leave behind does. That its process died is looked into first: where the same
// process answers it is not believed, and where nobody does, the kernel is ended before
// the run is. It is believed of a kernel that signs with the name of whoever asks, that
// is adopted, or that other clients are connected to. A program can forge calls of the functions that its run was
// given, which are then calls like any other: their names, number and sizes are
// checked here. So is what it says of files, which are read and written with the
// rights of its user: links that lead out are not followed, but a program that
// takes the place of what serves the files decides what is in them. A command that
// kills its guard can leave behind what it started before. Tokens travel in a header, in the URL only if
// Options.TokenInURL asks for it. Use https, and a server with the security
// fixes of Jupyter Server 2.18 or later.
package jupyter

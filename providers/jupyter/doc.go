// Package jupyter runs code in the kernels of a Jupyter Server, a Kernel Gateway, an
// Enterprise Gateway or a JupyterHub user's server, over their REST and WebSocket API.
//
//	ci, err := jupyter.NewStateful(ctx, &jupyter.Options{
//		URL: "http://localhost:8888", Auth: jupyter.Auth{Token: token}})
//
// [New] starts a kernel for each run and deletes it. With [NewStateful] each context is a
// kernel. [Stateful.Adopt] makes a context of a kernel that somebody else works in, such as
// an open notebook's. [codeinterp.Attaches] hands a context on to another process.
//
// The languages are those of the server's kernelspecs. Those that do not serve a language
// by default are LANGUAGE@KERNELSPEC, such as "python@conda-env".
//
// # How a run ends
//
// The status is that of the kernel's execute_reply. A timeout or cancellation interrupts
// the program, and restarts its kernel if that takes longer than Options.Grace;
// Result.StateLost reports that.
//
// If the reply is lost, the kernel is asked how the program ended. If that is unknown, or
// the server does not return within 30 s, the run is lost with CauseServer and an
// ErrUnavailable: the program may have ended or may still be running. The context's next
// run ends it first and reports it in a late line. A slow kernel is waited for and never
// replaced while its server says that it is alive.
//
// In an adopted kernel the programs of other clients are waited for. Duration and Timeout
// start when the kernel begins our program, and nothing is interrupted before. A run that
// is canceled before that is withdrawn; where the kernel cannot drop a request (ipykernel
// 7), the error says that it may still run.
//
// # Python kernels
//
// Hidden requests set up IPython kernels. They leave no name and no history. Programs get:
//
//   - the value as JSON;
//   - exit codes of sys.exit, exit and quit, which end the run and keep the state;
//   - asyncio.run, beside the kernel's loop;
//   - bytes by sys.stdout.buffer, and the output of child processes before the run ends;
//   - output of threads and tasks marked with the run that started them: it is late in
//     others;
//   - environment, directory and standard input of the run;
//   - functions of the host: tools.name(**args) in any thread, and await
//     tools.aio.name(**args); a failure is a ToolError;
//   - files, inputs and artifacts, by the control channel.
//
// In RunCode the program's threads are waited for, except for daemons. What ends
// ipykernel's loop, such as SystemExit in a task, ends the kernel, and StateLost reports
// it.
//
// Commands run in a Python kernel of their own, with pipes or on a terminal, each below a
// guard process that ends what the command started. A command that kills its guard is
// lost, and what it started may go on.
//
// # Other kernels
//
// They run as they are. Options that they cannot honor are ErrInvalid. Tried:
//
//	              value  json  stderr  error  line  exit  stdin  env  cwd  interrupt
//	ipykernel     yes    yes   yes     yes    yes   yes   yes    yes  yes  yes
//	xpython       yes    yes   yes     yes    -     -     -      -    -    -
//	xpython-raw   yes    -     yes     yes    -     -     -      -    -    -
//	IRkernel      yes    -     yes     yes    -     -     -      -    -    yes
//	bash_kernel   -      -     -       -      -     yes   -      -    -    yes
//
// exit is an exit code that costs no state; interrupt says that a timeout keeps the state.
// A program that asks for input and has none is interrupted.
//
// # Limits
//
//   - Output above the server's rate limits (1 MB and 1,000 messages a second by default)
//     is dropped by the server; Result.Truncated says "rate". After a lost connection it
//     says "connection", and "exit" if a process died.
//   - A lost connection fails the calls of functions that are open; they may have been
//     made. Output that was printed before a call can arrive after it.
//   - An interrupt that arrives between two programs can leave a kernel without answers.
//     Its context has to be restarted.
//   - A program that waits behind another client's program is not run if that fails:
//     ErrUnavailable.
//   - Messages of more than 64 MiB, but for printed text, are dropped and reported. One
//     request carries at most 10 MiB of code. Files travel in pieces of 1 MiB.
//   - The exit code of a kernel that died is unknown: 137.
//   - The kernels of a client that crashes stay until the server culls them.
//   - Deno's kernel is not offered: it reports the end of a program before its value.
//   - bash_kernel merges the two streams, and starts a new shell where a program exits;
//     StateLost does not report that.
//   - Adopted kernels and kernels without IPython have no files, functions or environment.
//
// # Security
//
//   - Code does on the server's host what the server's operator allows. This package adds
//     no isolation and no quotas.
//   - A program can forge what its kernel reports: output, its end, and calls of the
//     functions of its run.
//   - Files are read and written with the rights of the kernel's user. Links that lead out
//     of the directory are not followed.
//   - Tokens are sent in a header, and appear in no error. Use https.
package jupyter

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
// # Which interpreter
//
// A language's Commands are looked for on PATH and where systems keep
// interpreters, Python's first in the environment that VIRTUAL_ENV (activate, uv
// run) or CONDA_PREFIX names. The first that works is taken; LanguageInfo says
// which that is, where it is installed, its main packages, and what was passed
// over and why. An absolute path in Commands means that one only. To look at a
// candidate it is started once as the host: let no program write where
// interpreters are looked for. A .venv in the working directory is not looked
// at, since programs may well write there; name it.
//
// # Environments
//
// [NewEnvironment] makes a Python with packages by name, once for all processes
// that ask for the same, and finds it again without the network:
//
//	env, err := subprocess.NewEnvironment(ctx, &subprocess.EnvironmentOptions{Packages: []string{"pandas"}})
//	ci, err := subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{env.Language()}})
//
// Programs read it and cannot change it. uv or pip install it, of wheels only, so
// that no code of a package runs then, nor when the environment's Python is asked,
// as the host, what it is: .pth files are for programs. What is required by address
// is refused, and so is a wheel that replaces what the environment starts by. One of
// Node.js is made by npm, without a package's scripts, for JavaScript and TypeScript;
// packages that can only be imported, and not required, are not found. Time, disk and
// memory of an installation are bounded, see [EnvironmentOptions].
// [SweepEnvironments] keeps a directory of environments within a size. An environment
// of a Lock is made without the network, with pip from the wheels in Root, else from
// the cache there.
//
// What installs runs in Bwrap or Landlock mode, where one works, whatever mode
// programs run in; else as the host. It may change a directory that is made for it
// and a cache in Root; read the system's files, the interpreter, the settings of
// pip, uv and npm in the home (copies of pip.conf, uv.toml and .npmrc, with the
// variables that begin with PIP_, UV_ or npm_config_ and those of proxies and
// certificates), and the certificates and directories of packages that these name; and use
// the host's network, with all that is in reach there, localhost and a cloud's
// metadata too, but no Unix sockets. It reads nothing else of the home: .netrc,
// keyrings and keys of ssh are closed. On a root host it runs as a uid that nobody
// else has, which has to be able to reach the interpreter. Before the host takes
// what it has made, it looks that there are directories, files and links only, takes
// set-user-ID bits and ownership from them, and checks what Python starts by. One
// cache serves all environments of a Root: who takes over a client, by a fault of
// the client's, can put other packages there.
//
// With [Options].Install programs have packages that are missing: an import, or a
// line %pip install NAME, that the policy allows. Without it such a line is a
// syntax error that says so. bash and processes that a program starts have no part
// in it.
//
// # What programs find
//
// Python programs run in a real __main__: pickle, dataclasses, multiprocessing
// by fork, inspect.getsource of functions and tracebacks with source lines
// work. The last expression is the result, with its JSON value where that is
// faithful, its repr and its rich representations; one of these that fails is
// told by its traceback on standard error, and is no end of the program. What its
// class has as _ipython_display_ shows it in their place. A
// semicolon after the expression hides it. display, update_display and clear_output are builtins, and what
// IPython.display exports where IPython is not installed (HTML, Markdown, Image
// and their like; get_ipython returns None). matplotlib figures are shown as
// PNG by plt.show and at the end of the run, also where that is an exception,
// sys.exit or an interrupt; standard error tells where there was no time for that.
// Those of a process that is killed, as a RunCode at its timeout is, or that ends
// itself, as os._exit does, go with it. Top-level await works; in a
// context asyncio's tasks and threads live on after the run, and may display at
// any time, while a run of its own ends as asyncio.run does: what is left of its
// tasks is cancelled. The loop runs where a program awaits at its top level: without
// that, asyncio.create_task is a RuntimeError. sys.exit in a task ends the run as it
// awaits: what that awaits is canceled, and however it goes on, the exit is the outcome. In a
// task of an earlier run it ends no more than the task, and a late line on standard error tells
// it; where the program runs the context's loop itself, it ends the run too. IPython's magics are refused. The working directory is last
// on sys.path, so files in it can be imported and shadow nothing. Without
// RunOptions.Stdin, input fails at once. sys.__stdin__ is the run's; what a program
// makes its sys.stdin stays for a context's next runs, but for those with Stdin.
//
// JavaScript runs by the rules of V8's REPL mode: top-level await; const, let,
// class, var, function and import may declare again what an earlier program has, as
// another kind too, except in programs of megabytes that are mostly names; the
// value of the last statement is the result. Static imports
// become dynamic ones, and what they name consts; export is ignored. console and process.stdout write at once. display(mime, data,
// {id, update, metadata}) shows data, display(bundle, options) a bundle, display(value,
// options) anything else as text/plain, updateDisplay(id, mime, data) replaces, clearOutput({wait}) clears.
// A run ends as a script under node does, in contexts too: when its timers,
// promises, requests and children are done. A server that listens does not hold
// it, and serves the context's next runs. A promise as the last value is
// awaited. An unhandled rejection or exception, that of such a promise too, ends the
// run as an error, unless the program has handlers of its own, and the process with
// it where that is RunCode's, once its handlers of exit were called. What the program
// has left to be called, by a timer, a promise, a request or a child, is not called after
// that, nor after process.exit, so that promises of its may never settle, and what it
// had open may stay so; what it says of later errors is not told. A module whose import()
// is under way then is loaded, its own code runs, to be there for later programs, which
// takes the state with it where anything else of the program would go on meanwhile. What is thrown and is no Error has the
// Name Uncaught and its inspected form as the message. A value has a JSON form
// where JSON.parse(JSON.stringify(value)) gives it back deeply equal, at most
// 1 MiB of it and 100 levels. The value comes after what timers print. TypeScript has its
// types erased, not checked, before node gets it, whatever node's version: that
// is part of the run, counts in its time limit, and takes microseconds. Enums,
// namespaces, parameter properties and TypeScript's experimental decorators
// work. Positions in errors are those of the TypeScript.
//
// Bash programs run in the context's own shell: variables, functions, options,
// aliases, traps and the working directory stay, and $? of the program before, but
// not PIPESTATUS and $_. There are no values and no displays. A trap of EXIT runs
// when the shell ends, by exit, set -e or an interrupt, not at the end of each program
// nor with the context; it stays, and runs at the next such end as well. What it prints
// is the run's, an exit in it sets the exit code, and variables that it sets are kept.
// Traps of ERR, DEBUG and RETURN see the programs' commands, and none of the provider's.
// The run's exit code is that of the last command. In a context, break and continue
// outside of any loop end the program with exit code 1 and a message, where a script goes
// on. set -n, after which a shell does nothing more, ends RunCode, and a context's run as
// lost. Without RunOptions.Stdin, reading fails in bash and node too: descriptor 0 can only be
// written to.
//
// # Commands
//
// [codeinterp.Commands] runs command lines with /bin/bash, or /bin/sh, like
// RunCode in a process and a working directory of its own; with [Options].Dir all
// programs and commands share that directory, and OpenDir opens it for the host.
// A command finds the languages' interpreters on its PATH. Its limits are in force before it is read; what
// it leaves in the background is killed with it, and a timeout kills all of it at
// once.
//
// # Functions of the host
//
// What RunOptions.Functions and ContextOptions.Functions give is called in Python as
// tools.name(**args), from any thread and several at once, or with await
// tools.aio.name(**args) where asyncio's loop is to go on; in JavaScript and TypeScript as
// await tools.name({...}); in bash as tool name '{"json": 1}', from any subshell or job, which
// prints the result as JSON, or the message on standard error and fails. Arguments and results
// are JSON. A call that fails raises ToolError: in Python with the attributes name, the
// function's, and message; in JavaScript with tool, the function's name, and a message that
// begins with it, as in "add: too large". A program that uses the name tools for something
// else keeps it. A run of JavaScript waits for its open calls. What goes on after a run's end
// calls nothing, nor in the next run: in Python tasks, threads and what a pool of threads
// does, which is the run's that gave it that, whichever run made the pool; in JavaScript what
// awaits, and what a server, socket or worker that the run started calls. A handler of a
// signal may call, also while its thread waits for another call. A bash program that ends
// while a job of it waits for a call ends after that. Processes that a Python program forks
// cannot call: they get a ToolError that says so. One call carries up to 48 MiB of arguments
// where the limits allow it, and 4,096 may be open at once.
//
// # Input
//
// RunOptions.Input reaches python, bash and node programs by a FIFO, up to 64 KiB
// ahead of what they read. Languages without a driver have Stdin only.
//
// # Files
//
// codeinterp.Files opens a context's directory to Go code, also while its
// programs run, as the user that they run as; RunOptions.Files and
// ContextOptions.Files are copied into it, a gigabyte in about two seconds;
// Options.ReadOnly opens large data where it is. A file takes up to Limits.FileSize, a
// directory of the context's own up to Limits.Disk and Limits.Inodes.
// RunOptions.Artifacts finds what changed in the directory: by events of the
// kernel where the directory is watched, and else by a look through it before and
// after the run, which notices a change by the file's times, size, mode and inode.
// Only what changed is read. Where TMPDIR is the directory itself, which it is in
// landlock and none mode without a Cwd, temporary files that a program leaves are
// artifacts. A RunCode's processes have ended by then; what is in its Artifacts is
// all that is left of its files.
//
// # Output
//
// Standard output and error are pipes that belong to the program: what C
// extensions, os.write and child processes write is captured too, byte for
// byte, as it comes. Pieces that come within two milliseconds are delivered
// together. Order holds within a stream and between displays and streams;
// between the two streams it is that of arrival. What a context's threads, tasks
// and children write after the end of a run comes with the next one, marked Late,
// up to 1 MiB; what they write during a later run comes with that one, as it
// comes, and is marked only where it is Python's own print and display, at
// whatever moment that is. What os.write and children write
// just as a run begins can come unmarked, as that run's own, and so can what an
// object prints whose __str__ began in an earlier run. What forked processes display is not waited
// for, so it can come a little after what they print next.
//
// A display has at most 64 representations, 48 MiB together, a MIME type 256
// bytes, a display id 1 KiB, metadata 64 KiB, a value 1 MiB as JSON. Of an
// error's texts the middle is left out beyond 64 KiB of message and 128 KiB of
// traceback. Each loss is reported where it happens.
//
// # Ends
//
// A run of a context that has to stop is interrupted (SIGINT to the program and its children),
// and killed after Options.Grace. The state is lost if it was killed; if a program of node's
// was interrupted, or for 200 ms after it had ended by an error or process.exit, while
// something was under way that goes on unless the process ends: requests, children, workers,
// sockets, modules that are loaded; if it ended while an http.Agent that limits its sockets had
// requests under way; if it has closed descriptor 1 or 2, so that later ones print; and if
// process.exit is called after an await. Timers, whatever they are made by, messages of ports,
// timed waits of Atomics.waitAsync and what waits to be called by promises end without that.
// RunCode kills at once. A bash program that exits or is interrupted leaves its state to a new
// shell that takes the process over, but for one under set -n. Where that takes more than two
// seconds, because the state has many megabytes or because a program only claimed to have
// ended, the rest counts towards the next run's time. A driver that breaks the protocol, or
// whose program closes its channel, is killed: driver and program share a process and can forge
// each other's messages, but not what the host sees of the process. So a call of a function
// that a program forges is a call like any other, and is checked as such; an answer that it
// forges reaches nobody but itself. A program can write its own end, and go on until the
// context's next run; not that of a run to come, unless a thread that it leaves behind in
// Python, or a trap in bash, reads that run's number once it has begun.
//
// # Warm starts
//
// With Options.Warm, python is forked from a server that has imported the modules of
// Warm.Preload, where the isolation allows it (not in bwrap mode). All other processes come
// from a pool of started ones, Python's once they have imported those modules; what that
// took comes on top of Limits.CPU and Limits.Memory. Where none is ready, as for runs that
// come fast in bwrap mode, and contexts that have a Cwd or start again and cannot be forked,
// one starts that has imported nothing: no program waits for what it may not need. Each
// serves one run or one context. All that are forked for an interpreter run as the same
// user, but cannot reach each other's directories in landlock mode. matplotlib builds a font
// cache in each new home directory, which takes a second; preload matplotlib.pyplot.
//
// # Modes
//
// Where the host is root, programs run under another user in every mode.
//
// Bwrap: programs see the system's files, what the options list, their working
// directory at /workspace, or, where that is Options.Dir or a context's Cwd, at its
// own path, to which /workspace leads, and a private /tmp, /dev/shm and /proc. Without
// Options.Network, loopback works among the processes of one program, command or
// context, and reaches no other; unix sockets do not work. Nothing survives the host.
//
// Landlock: programs see the host's paths, and are refused what is not listed;
// names, sizes and links outside can be found out by stat and readlink. /proc is
// closed, and there is no /dev/shm, so that multiprocessing has no Lock, Queue or
// Pool: use threads, os.fork and pipes, or Bwrap. There are no sockets without
// Options.Network, loopback included; signals go to single processes of the
// program's own. Setting a file's times by its path (os.utime, shutil.copy2,
// touch -h) reports success and does nothing, since Landlock would leave it open
// for files outside too; by a descriptor (touch, cp -p) it works, but for an
// ordinary user's host, for which chmod does nothing either. Below Linux 6.12
// programs under the host's own user can signal it, so that this needs
// Options.AllowSignals. If the host is killed, its programs are ended by a
// process that outlives it for a moment.
//
// Programs find neither namespaces nor Landlock in these two modes, as on a kernel that
// lacks them: Toolcell within a program of Toolcell's has only None, which its caller has
// to allow, and which is still held by what holds the program.
//
// None: a clean environment, the limits, a process group that is killed; a
// program that means to escape can do so, and reads what its user can.
//
// # Security
//
// [Options] and Describe say what stands between programs and the host. In bwrap
// and landlock mode programs see no files of the host but the system's, the
// interpreter's and those that the
// options list: of an interpreter outside the system's directories that is its
// file and the lib beside its bin, never the directory above (see
// LanguageInfo.Roots); no network unless Options.Network is set; no processes but
// their own; and the environment has nothing of the host's. A context's Cwd may
// be changed by it, as far as its user's rights go: on a root host that is the
// directory's owner; in one of root's that is not open to all, a uid that the
// directory's access list lets in, beside files of root's that it cannot write to, but remove.
// It is held open from CreateContext on, and compared with its path whenever a
// process starts. The host starts no interpreter that programs can change: where
// one is a link in Options.Dir or Options.Writable, as in a project's environment,
// what it leads to is asked, without the environment's packages; one that is a file
// there is not taken, and a Cwd with one that was asked is refused. None mode isolates nothing and has to be allowed. The
// kernel is shared: none of this is a virtual machine.
//
// Known not to hold: under Landlock, programs can tell names and sizes of all
// files by stat, where links lead, and the host's name; under Bwrap they read what
// the kernel tells everybody in /proc. They can lock the files that they may read,
// and make
// set-user-ID files of their own uid in a Cwd, except under Landlock as the
// host's own user. Under that user they share the kernel's quotas of it, such as
// memory for pipes. In none mode, programs that mean to can outlive their run
// and the host, and programs of one uid can signal each other; under the
// host's own uid they can end the host. A root host without CAP_SYS_PTRACE, as
// in most containers, does not see files without a name that programs hold open.
//
// # Limits
//
// Completions of python and JavaScript know what can be told without calling
// anything: nothing behind a property, a getter or a proxy, and no names that only
// __dir__ or __getattr__ know.
//
// Options.Dir has no quota: Limits.Disk and Inodes do not count what is in it. Limits.Memory
// does not count what the kernel spends on a program's mappings (850 MB for 60 processes with
// 32,600 each), its POSIX locks (230 MB in 28 seconds), its pipes (1 GiB at most by default),
// and pages of files that are cut off while they are in pipes or sockets; and of TCP's buffers
// what they grow beyond 416 KiB a socket. Shared memory, sockets, pseudo terminals and what
// epolls watch count up to what the machine has lost since the program began. A host that is
// not root, or lacks CAP_SYS_ADMIN, knows of shared memory only how much is mapped: a program
// that unmaps a part can hide it, and one with mappings larger than Limits.Memory, most of
// which it has not touched, can be killed while others on the machine fill shared memory or a
// tmpfs. But in none mode the sizes of sockets' buffers cannot be changed (setsockopt reports
// success), there is no vmsplice, and System V has no queues, no segments above 64 KiB, and no
// more than 32 semaphores a set, in Bwrap; in Landlock it has nothing. Limits.CPU is enforced
// by the kernel's count for a program and all that comes of it (perf_event_open) where the
// host may have that: with kernel.perf_event_paranoid at 2 or less or CAP_PERFMON, and a
// container's filter that allows the call. Elsewhere a program that ignores SIGCHLD and has
// one child of 10 ms after another gets up to ten times the limit; a run's timeout bounds it
// then. A program that leaves that count, by executing a file that it may not read, is ended
// when 250 ms were seen that the count does not have. Under Bwrap and Landlock a host that is
// not root ends a program that executes such a file for more than 250 ms, since it could not
// measure its memory and disk: the Result's detail says so. Let programs read what they
// execute. Limits.Disk is exceeded by what a program writes between two looks at its
// directory, which are 0.1 to 0.3 seconds apart, and more where there are so many files that
// one takes longer: plain writes, by one process or four, ended at up to 1.06 GiB with a limit
// of 1 GiB on a disk that took 0.5 GB a second, and where memory takes gigabytes a second it
// is some hundreds of MiB. What would take space faster than it is written is refused but in
// none mode: fallocate answers EOPNOTSUPP, unless it only makes holes, so that posix_fallocate
// writes. Of what processes send, frames of more than a megabyte wait for room in 128 MiB that
// all processes of an interpreter share, and a call of a function fails where the arguments of
// open calls would take more than 128 MiB.
//
// In a context of node, what a program has let go with unref ends with its run where it is a
// timer, a port or a channel. A server, socket, worker or child, fs.watch and fs.watchFile
// with persistent: false, a handler of a signal, a FinalizationRegistry, a hook of async_hooks
// and a session of the inspector stay, and call the program when something comes: also between
// runs, and for ever where it sends that itself. So do timeouts of sockets, Atomics.waitAsync
// of a context of vm, and timers made between runs, which hold none. Close them, or have them
// hold the run. node does not open its inspector by SIGUSR1.
//
// In a context of bash, and in RunCode with functions, trap is a function, as type, caller
// and declare -F say, that keeps a program's trap of EXIT apart from the driver's own; in a
// context exit is one too. A trap of EXIT finds no positional parameters where exit was
// called, and a return in it ends it. The state is lost where such a trap ends by
// `builtin exit` or by what ends a shell beside exit and set -e: an unset variable under
// set -u, ${name:?}, a failure in arithmetic. It is also lost where a program sets one
// past the function, by `builtin trap`, `command trap` or, in posix mode, in a function
// of its own, and the same run ends by set -e or an error, or in posix mode by exit. A
// trap of DEBUG that is set so sees commands of the provider's, whose names begin with
// __toolcell. In a trap of EXIT BASH_COMMAND is the call of a function that failed under
// set -e, not the command in it, and exit with its arguments expanded where a function
// called that; set -x shows a + more. An unset variable under set -u ends a program with
// 127, as it ends bash -c. An exit with several arguments, and a failure in arithmetic,
// end the program, where a script goes on with its next line. Once a program has ended its
// shell, the lines of functions of before, in messages, LINENO and caller, are no more
// those of the program. RunOptions.Env does not reach a variable that is readonly, and one
// that a program makes readonly keeps it for later runs; standard error says either. A
// program that leaves no process to its user (ulimit -u) loses the state, after 15 seconds.
//
// A bash job that is killed by SIGKILL in the midst of sending a call, or of reading
// an answer, spoils its shell's channel, which costs the state; one that is killed
// while it waits costs nothing. In bash, an answer that comes to one of several
// jobs is noticed up to 50 ms later. Jobs hand answers to each other as files below
// TMPDIR. A call that the program gives
// up, as asyncio.wait_for does, ends on the host only with its run.
// Looking for artifacts takes the processor about 4 microseconds for each file
// that is there, before the run and again behind it. On Linux, the directories of
// contexts and Options.Dir are watched from the first run that asks for artifacts,
// which looks at all files once: from then on a run in 100,000 files of which it
// changes ten takes 4 ms of the processor's time, and one that writes nothing
// takes the same in all directories (BenchmarkArtifacts of internal/rootfs, on an
// AMD EPYC). All files are looked at as before where a file system is none of ext4,
// xfs, btrfs, f2fs and tmpfs, beneath which something else is mounted, or which has
// more than 16,384 directories or a directory that cannot be listed, and after runs
// that leave a doubt: that remove a file or directory which they made, write over it
// by renaming twice, exchange names, make a hard link, or do more than can be followed.
// So a directory on overlayfs, as that of a container, costs 0.6 s of the processor a
// run where it has 100,000 files; on a volume or a tmpfs of the container's it does not.
// One look goes through 262,144 files and 128 levels, and Truncated tells where there is
// more. A file whose path has more than 4,096 bytes is counted there, and not listed.
// A file is not found which a program changes only through a mapping that it made before
// the first run that asks for artifacts, where the file system keeps no times of that,
// or through one of files of more than 64 MiB together; or which it changes only by a
// hard link that it has made, during a run, outside the directory or in a directory that
// is new, and that is not in the directory at the run's end.
// In a context of JavaScript a const is a variable to V8. Assignments to it throw in the
// program that declares it and in later ones, but not in a statement of the top level that also
// declares the name within, nor in a function of an earlier program, nor where the name is in
// parentheses or in code given to eval; a function that does so throws also once the name is no
// const any more. What a program declares again keeps its value until it gets another. A
// function within a block cannot have the name of what was a const, let or class. A declaration
// of what was of another kind may move the columns of what follows on its line. In JavaScript
// that a program makes itself (eval, new Function) there is no import(), and a function that
// has one shows another name for it as its source. Of a module that failed as it was imported
// node keeps the failure, older ones also where it could not be read: import it as './x.mjs?2'
// once it is mended. Of TypeScript the program itself is translated, not the files that it
// imports; accessor fields and using are left to node.
// In a child that a Python program forks, the control channel stays open. Threads that C
// code starts, and not Python, are the run's in whose time they call or print.
// inspect.getsource of classes does not work, as in Python's own REPL. The spawn and
// forkserver methods of multiprocessing cannot import what a program defines. Host files
// need a path that the program's user can reach. An interpreter below /root is shown to
// programs of a root host, with its libraries and nothing beside them, where the host has
// CAP_SYS_ADMIN on Linux 5.12, and is else not used; so is what Options.ReadOnly lists.
//
// Linux is supported in full; other Unixes with None mode only; Windows not at
// all: New returns codeinterp.ErrUnavailable.
package subprocess

// Command toolcell runs code on any Toolcell provider, checks what this
// machine has, and serves the tools over MCP.
//
//	toolcell run -e 'console.log("hello"); 6 * 7'
//	toolcell run --provider subprocess --in data.csv --out charts plot.py data.csv
//	toolcell run --url http://localhost:8888 analysis.ipynb --out done.ipynb
//	toolcell repl --provider subprocess
//	toolcell doctor
//	toolcell mcp
//	toolcell mcp --tools mcp.json
//
// With --tools, mcp connects to the MCP servers of a file in the form that hosts
// use, {"mcpServers": {...}}, and serves in place of all their tools one that runs
// programs which call them; see package tools/codemode/mcptools. Their processes
// run as usual, with their credentials, which programs do not reach.
//
// What follows the program's name is the program's: flags come before. Programs
// find their arguments and their file's name as under their own interpreter, but
// not the file's directory: --dir opens that, or another, to be read. Without it
// they start in a directory of their own, which is deleted: --in copies files
// into it, and --out saves what they made there, and makes the exit code 1 in
// place of 0 where it could not save a file.
//
// With --keep, or TOOLCELL_KEEP, run leaves a process behind in which later runs
// with the same flags and environment find Python started and its packages imported.
//
// The exit code of run is the program's own: 124 for a timeout, 130 for
// Ctrl-C, 128 + signal for a process that died. A notebook's is that of the first
// cell that failed. Bad usage is 2, a failure of the provider 1; both put one line
// on standard error. Where --timeout runs out,
// or a signal comes, before the program began, the codes are the same.
//
// # Security
//
// Programs run behind the walls of their provider, and what is shown of them is
// what they wrote: a terminal acts on it.
//
// A process that --keep leaves is reached by a socket in a directory that is closed
// to other users, and serves processes of the same user. Isolated programs cannot reach
// it: they have no Unix sockets.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/toolcell/toolcell/codeinterp"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

// An app is one invocation of the command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	code   int     // the exit code of what ran
	served *served // set in a keeper, during a run
}

func main() {
	ends := endings()
	if len(os.Args) > 1 && os.Args[1] == "repl" {
		ends = slices.DeleteFunc(ends, func(s os.Signal) bool { return s == os.Interrupt }) // interrupts programs
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the command at once
	// A reader that went away is an error of a write, not a signal that ends
	// this process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(a.main(ctx, os.Args[1:]))
}

// endings are the signals that end the command in good order, less those that
// whoever started it has switched off, as nohup does.
func endings() []os.Signal {
	list := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}

func (a *app) main(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return a.usageError("%s", text)
	}
	return a.code
}

// version is the module's, with the commit where it was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion + " " + runtime.GOOS + "/" + runtime.GOARCH
}

func (a *app) usageError(format string, args ...any) int {
	fmt.Fprintf(a.stderr, "toolcell: "+format+"\n", args...)
	return exitUsage
}

// fail tells why the command does not do what it was asked to. What the caller
// asked for in a wrong way is bad usage.
func (a *app) fail(err error) int {
	text := strings.ReplaceAll(plain(err), "\n", "; ")
	if errors.Is(err, codeinterp.ErrInvalid) {
		return a.usageError("%s", text)
	}
	fmt.Fprintf(a.stderr, "toolcell: %s\n", text)
	return exitFailure
}

// waiting says why nothing happens.
func (a *app) waiting(host string) {
	fmt.Fprintf(a.stderr, "toolcell: waiting for the Jupyter server at %s to answer\n", host)
}

// spawning says how far a JupyterHub is with the start of a user's server.
func (a *app) spawning(percent int, message string) {
	fmt.Fprintf(a.stderr, "toolcell: the Hub starts the server: %d%%, %s\n", percent, message)
}

// stopped says so, and returns the exit code of programs that are.
func (a *app) stopped() int {
	fmt.Fprintln(a.stderr, "toolcell: stopped")
	return codeinterp.ExitCanceled
}

// readAll reads standard input until its end, ctx's, or the limit.
func (a *app) readAll(ctx context.Context, limit int64) ([]byte, error) {
	type read struct {
		b   []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(a.stdin, limit))
		done <- read{b, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("reading standard input: %w", r.err)
		}
		return r.b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

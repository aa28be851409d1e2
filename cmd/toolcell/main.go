// Command toolcell runs code on any Toolcell provider, checks what this machine has, and
// serves the tools over MCP.
//
//	toolcell run -e 'console.log("hello"); 6 * 7'
//	toolcell run --in data.csv --out charts plot.py data.csv
//	toolcell run --url http://localhost:8888 analysis.ipynb --out done.ipynb
//	toolcell repl --language python
//	toolcell shell --dir . --write .
//	toolcell doctor
//	toolcell mcp
//	toolcell mcp --tools mcp.json
//
// Flags come before the program's name; what follows it are the program's arguments. A
// program does not see the files beside it: --dir opens a directory for reading, and --in
// copies files into the directory that the program starts in. That directory is deleted
// after the run; --out saves the files that the program made there.
//
// The exit code of run is the program's own: 124 for a timeout, 130 for Ctrl-C, 128 +
// signal for a process that died. A notebook's is that of the first cell that failed. It is
// 1 instead of 0 if a file could not be saved, 2 for bad usage, and 1 for a failure of the
// provider; the last two print one line on standard error.
//
// # Security
//
// Programs run behind the walls of their provider. What they print is shown as it is, and
// a terminal acts on it.
//
// A process that --keep leaves behind serves processes of the same user only.
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
	"time"
	_ "time/tzdata" // programs in memory find every time zone on every machine

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
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

	code int // the exit code
}

func main() {
	subprocess.RunKeeper()
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

// endings are the signals that end the command in good order, without those that its
// caller ignores, as nohup does.
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

// version returns the module's version, with the commit if it was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion + " " + runtime.GOOS + "/" + runtime.GOARCH
}

func (a *app) usageError(format string, args ...any) int {
	a.progress(format, args...)
	return exitUsage
}

// fail prints an error and returns the exit code. Invalid input is bad usage.
func (a *app) fail(err error) int {
	var lines []string
	for line := range strings.Lines(plain(err)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "; ")
	if errors.Is(err, codeinterp.ErrInvalid) {
		return a.usageError("%s", text)
	}
	fmt.Fprintf(a.stderr, "toolcell: %s\n", text)
	return exitFailure
}

// progress prints a line about something that takes long.
func (a *app) progress(format string, args ...any) {
	fmt.Fprintf(a.stderr, "toolcell: "+format+"\n", args...)
}

// after prints a line if done is not called within d. It is not printed after done.
func after(d time.Duration, print func(string, ...any), format string, args ...any) (done func()) {
	if print == nil {
		return func() {}
	}
	printed := make(chan struct{})
	t := time.AfterFunc(d, func() {
		defer close(printed)
		print(format, args...)
	})
	return func() {
		if !t.Stop() {
			<-printed
		}
	}
}

// stopped reports that the command was stopped, and returns the exit code of that.
func (a *app) stopped() int {
	fmt.Fprintln(a.stderr, "toolcell: stopped")
	return codeinterp.ExitCanceled
}

// readAll reads standard input to its end or the limit.
func (a *app) readAll(ctx context.Context, limit int64) ([]byte, error) {
	b, err := await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.stdin, limit)) })
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("reading standard input: %w", err)
	}
	return b, err
}

// await returns what f returns, or ctx's cause while f goes on.
func await[T any](ctx context.Context, f func() (T, error)) (value T, err error) {
	done := make(chan struct{})
	var v T
	var failed error
	go func() {
		defer close(done)
		v, failed = f()
	}()
	select {
	case <-done:
		return v, failed
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
)

const (
	canKeep    = true
	maxKeepers = 4 // of a user
)

// offer runs the program in a keeper if there is one. Otherwise it starts one for
// later runs, and this run goes on by itself.
func (a *app) offer(ctx context.Context, f *runFlags, program, file string) (code int, done bool) {
	in, isFile := a.stdin.(*os.File)
	if f.keep == 0 || !isFile || f.timeout < 0 || !f.script.later ||
		slices.ContainsFunc(append(slices.Clone(f.in), f.out, f.images), transient) {
		return 0, false
	}
	dir, err := keeper.Open(a.getenv)
	if err != nil {
		a.notKept(f, err)
		return 0, false
	}
	defer dir.Close()
	key, err := f.key(os.Environ())
	if err != nil {
		return 0, false // the run reports it
	}
	order := newOrder(f, program, file)
	files, err := a.files(in)
	if err != nil {
		return 0, false
	}
	defer files[3].Close() // the others are this process's streams
	call, err := dir.Call(key, order, files)
	if errors.Is(err, keeper.ErrNone) {
		if err := startKeeper(order); err != nil {
			a.notKept(f, err)
		}
	}
	if err != nil {
		return 0, false
	}
	code, err = call.Run(ctx)
	switch {
	case errors.Is(err, keeper.ErrRefused):
		return 0, false
	case err != nil:
		return a.fail(fmt.Errorf("%w: the program may have run in part and is not run again", err)), true
	}
	return code, true
}

// notKept reports why no process is left behind, if the flag asked for one.
func (a *app) notKept(f *runFlags, err error) {
	if f.asked {
		fmt.Fprintf(a.stderr, "toolcell: --keep has no effect: %v\n", err)
	}
}

// newOrder returns this call as an order. Its first argument is the program's file.
func newOrder(f *runFlags, program, file string) *keeper.Order {
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	return &keeper.Order{Args: append([]string{file}, os.Args[1:]...), Input: []byte(program), Env: os.Environ(), Umask: umask, Lease: f.keep}
}

// files returns the streams and the directory of this process.
func (a *app) files(in *os.File) (keeper.Files, error) {
	out, isFile := a.stdout.(*os.File)
	errs, isToo := a.stderr.(*os.File)
	if !isFile || !isToo {
		return nil, errors.New("not files")
	}
	dir, err := os.Open(".")
	return keeper.Files{in, out, errs, dir}, err
}

// keepServe is the hidden argument that a keeper is started with.
const keepServe = "serve"

// startKeeper leaves a process behind that becomes the keeper for calls like this one.
func startKeeper(order *keeper.Order) error {
	line, _, _ := strings.Cut(string(order.Input[:min(len(order.Input), 256)]), "\n")
	cmd := exec.Command("/proc/self/exe", append([]string{"keep", keepServe, "--", order.Lease.String(), line}, order.Args...)...)
	cmd.Args[0] = "toolcell"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range open { // pipes of the caller's must not stay open in the keeper
		if n, err := strconv.Atoi(fd.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// keepCommand lists and ends keepers.
func (a *app) keepCommand() *cobra.Command {
	c := &cobra.Command{Use: "keep", Short: "List or end the processes that run --keep left behind"}
	list := a.command("list", "List them", nil, func(context.Context, *pflag.FlagSet, []string) int {
		return a.print(lines(a.keepers(keeper.Status), ""))
	})
	stop := a.command("stop", "End them", nil, func(context.Context, *pflag.FlagSet, []string) int {
		return a.print(lines(a.keepers(keeper.Stop), ", ended"))
	})
	serve := a.command(keepServe, "", nil, func(ctx context.Context, _ *pflag.FlagSet, operands []string) int { return a.serveRuns(ctx, operands) })
	list.Args, stop.Args, serve.Args, serve.Hidden = cobra.NoArgs, cobra.NoArgs, cobra.MinimumNArgs(4), true
	c.AddCommand(list, stop, serve)
	return c
}

func lines(list []string, end string) (text string) {
	for _, line := range list {
		text += line + end + "\n"
	}
	return text
}

// keepers sends a verb to each keeper, and returns a line about each.
func (a *app) keepers(verb string) (list []string) {
	dir, err := keeper.Open(a.getenv)
	if err != nil {
		return nil
	}
	defer dir.Close()
	for _, key := range dir.Keys() {
		about, err := dir.Ask(key, keeper.Status)
		if err == nil && verb != keeper.Status {
			_, err = dir.Ask(key, verb)
		}
		if err == nil {
			list = append(list, about)
		}
	}
	return list
}

// kept lists the keepers for doctor.
func (a *app) kept() []string { return a.keepers(keeper.Status) }

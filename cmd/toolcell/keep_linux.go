package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

const (
	canKeep    = true
	maxKeepers = 4 // of a user, for runs
	runKey     = "run-"
)

// kept returns the interpreter of a keeper, nil if there is none. Then it starts one for
// later runs, and this run goes on by itself.
func (a *app) kept(f *runFlags) codeinterp.CodeInterpreter {
	stdin, ok := a.stdin.(*os.File)
	if f.keep == 0 || !ok && f.stdin || f.timeout < 0 || f.net.ask || !f.script.later || slices.ContainsFunc(f.in, transient) {
		return nil
	}
	key, err := f.key(os.Environ())
	if err != nil {
		return nil // the run reports it
	}
	dir, err := keeper.Open(a.getenv)
	if err == nil {
		k, called := callKeeper(dir, key, stdin, f.keep)
		if called == nil {
			return k
		}
		err = called
	}
	if errors.Is(err, keeper.ErrNone) {
		err = startKeeper(key)
	}
	if err != nil && f.asked && !errors.Is(err, errBusy) {
		fmt.Fprintf(a.stderr, "toolcell: --keep has no effect: %v\n", err)
	}
	return nil
}

// keepServe is the hidden argument that a keeper is started with.
const keepServe = "serve"

// startKeeper leaves a process behind that becomes the keeper for calls like this one.
func startKeeper(key string) error {
	cmd := exec.Command("/proc/self/exe", append([]string{"keep", keepServe, "--", key}, os.Args[1:]...)...)
	cmd.Args[0] = "toolcell"
	if err := keeper.Start(cmd); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// keepCommand lists and ends keepers.
func (a *app) keepCommand() *cobra.Command {
	c := &cobra.Command{Use: "keep", Short: "List or end the processes that run --keep and contexts that outlive their host left behind"}
	list := a.command("list", "List them: their ids, their ages, and how long they stay unused", nil,
		func(context.Context, *pflag.FlagSet, []string) int { return a.keepers(nil, false) })
	stop := a.command("stop [ID...]", "End them all, or those of these ids", nil,
		func(_ context.Context, _ *pflag.FlagSet, ids []string) int { return a.keepers(ids, true) })
	serve := a.command(keepServe, "", nil, func(ctx context.Context, _ *pflag.FlagSet, operands []string) int { return a.serveRuns(ctx, operands) })
	stop.Args, serve.Args, serve.Hidden = cobra.ArbitraryArgs, cobra.MinimumNArgs(2), true
	c.AddCommand(list, stop, serve)
	return c
}

// keepers lists the keepers of ids, or all without ids, and ends them if they are to stop.
// It removes what those left that were killed.
func (a *app) keepers(ids []string, stop bool) int {
	dir, err := keeper.Open(a.getenv)
	if err != nil {
		return a.fail(err)
	}
	var text strings.Builder
	missing := slices.Clone(ids)
	for _, k := range dir.Keepers("*") {
		id := strconv.Itoa(k.PID)
		if len(ids) > 0 && !slices.Contains(ids, id) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(s string) bool { return s == id })
		line, err := procfs.File(k.PID, "cmdline")
		if err == nil && stop {
			err = syscall.Kill(k.PID, syscall.SIGTERM)
		}
		if err != nil { // it has ended just now
			continue
		}
		name, command, ok := strings.Cut(strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")), " run ")
		if ok {
			name = "run " + command
		}
		fmt.Fprintf(&text, "%s  for %v, lease %v  %s", id, time.Since(k.Since).Round(time.Second), k.Lease, visible(name))
		if stop {
			text.WriteString(", ended")
		}
		text.WriteByte('\n')
	}
	sandbox.SweepTemp(os.TempDir())
	if code := a.print(text.String()); code != 0 || len(missing) == 0 {
		return code
	}
	return a.fail(fmt.Errorf("there is no keeper %s; see toolcell keep list", strings.Join(missing, ", ")))
}

// perTerminal are variables that change from call to call and do not affect programs.
var perTerminal = []string{"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TERM", "COLORTERM", "TERM_PROGRAM", "LC_TERMINAL",
	"TMUX", "TMUX_PANE", "WINDOWID", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "TOOLCELL_KEEP"}

// key names the keepers that can serve a call: those of the same command with the same
// environment and flags, apart from what each call has of its own.
func (f *runFlags) key(environ []string) (string, error) {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(perTerminal, name)
	})
	slices.Sort(env)
	this, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	parts := []any{version(), this.ModTime(), this.Size(), env, f.script.dir, f.env.values, f.net.mode, f.net.allow, f.net.secrets, f.net.policy, f.net.explain, f.isolation,
		f.unsandboxed, f.memory, f.disk, f.processes, f.preload, f.with, f.node, f.read, f.write, f.python}
	if f.name != "" {
		e, err := environments.OpenNamed(f.getenv("TOOLCELL_ENVIRONMENTS"), f.name)
		if err != nil {
			return "", err
		}
		parts = append(parts, e.ID)
	}
	here, err := os.Getwd() // in which relative paths begin
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", append(parts, here)))
	return runKey + hex.EncodeToString(sum[:12]), err
}

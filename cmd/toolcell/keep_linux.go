package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/environments"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/probecache"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

const (
	canKeep = true
	runKey  = "run-" // begins the keys of runs
)

// A keptRun is a run that a keeper is asked for. The standard streams come before it.
type keptRun struct {
	Args    []string // of the command
	Program string
	Env     []string // of the caller
	Lease   time.Duration
}

// handshake is how long a keeper has to be there. A busy one is not.
const handshake = 500 * time.Millisecond

// runKept has a keeper run a program, and returns the exit code. Without one, done is false
// and the run goes on by itself; runKept has then started a keeper for later runs.
func (a *app) runKept(ctx context.Context, f *runFlags, program string) (code int, done bool) {
	switch {
	case a.key != "":
		return a.serveRuns(ctx, f), true
	case a.ci != nil, f.keep == 0, f.timeout < 0, f.net.ask, f.net.explain, !f.script.later, slices.ContainsFunc(f.in, transient):
		return 0, false
	}
	key, err := f.key(os.Environ())
	var dir keeper.Dir
	if err == nil {
		dir, err = keeper.Open(a.getenv)
	}
	var socket *net.UnixConn
	if err == nil {
		socket, err = dir.Dial(key)
	}
	switch {
	case err == nil:
		code, done = a.askKeeper(ctx, keeper.NewConn(socket), &keptRun{os.Args[1:], program, os.Environ(), f.keep})
	case errors.Is(err, keeper.ErrNone):
		err = startKeeper(key)
	}
	if err != nil && f.asked {
		fmt.Fprintf(a.stderr, "toolcell: --keep has no effect: %v\n", err)
	}
	f.warm, f.preload = false, nil // which a keeper needs alone
	return code, done
}

// askKeeper has a keeper that is not busy run a program.
func (a *app) askKeeper(ctx context.Context, c *keeper.Conn, q *keptRun) (code int, done bool) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(handshake))
	if err := c.Decode(&done); err != nil {
		return 0, false
	}
	_ = c.SetDeadline(time.Time{})
	_, _, err := c.WriteMsgUnix([]byte{0}, unix.UnixRights(0, 1, 2), nil)
	if err == nil {
		err = c.Encode(q)
	}
	defer context.AfterFunc(ctx, func() { _ = c.CloseWrite() })() // which cancels the run
	if err == nil {
		err = c.Decode(&code)
	}
	if err != nil {
		code = a.fail(errors.New("the keeper ended during the run: the program may have run in part and is not run again"))
	}
	return code, true
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
	serve := a.command(keepServe, "", nil, func(ctx context.Context, _ *pflag.FlagSet, operands []string) int {
		a.key = operands[0]
		return a.main(ctx, operands[1:])
	})
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
	text := ""
	missing := slices.Clone(ids)
	for _, k := range dir.Keepers("*") {
		id := strconv.Itoa(k.PID)
		if len(ids) > 0 && !slices.Contains(ids, id) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(s string) bool { return s == id })
		line, err := procfs.File(k.PID, "cmdline")
		ended := ""
		if err == nil && stop {
			ended, err = ", ended", syscall.Kill(k.PID, syscall.SIGTERM)
		}
		name := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if _, command, ok := strings.Cut(name, " -- "+runKey); ok { // and the key
			_, name, _ = strings.Cut(command, " ")
		}
		if err == nil { // else it has ended just now
			text += fmt.Sprintf("%s  for %v, lease %v  %s%s\n", id, time.Since(k.Since).Round(time.Second), k.Lease, visible(name), ended)
		}
	}
	sandbox.SweepTemp(os.TempDir())
	if code := a.print(text); code != 0 || len(missing) == 0 {
		return code
	}
	return a.fail(fmt.Errorf("there is no keeper %s; see toolcell keep list", strings.Join(missing, ", ")))
}

// perTerminal are variables that change from call to call and do not affect programs.
var perTerminal = []string{"PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TERM", "COLORTERM", "TERM_PROGRAM", "LC_TERMINAL",
	"TMUX", "TMUX_PANE", "WINDOWID", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "TOOLCELL_KEEP"}

// key names the keepers that can serve a call: those of the same command with the same
// environment and flags, apart from what each call has of its own, as long as the files are
// there that they have read and the directories that they have opened.
func (f *runFlags) key(environ []string) (string, error) {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(perTerminal, name)
	})
	slices.Sort(env)
	mask := unix.Umask(0o077) // of saved files
	unix.Umask(mask)
	parts := []any{version(), mask, probecache.Stamp("/proc/self/exe"), env, f.script.dir, f.env.values, f.net.mode, f.net.allow, f.net.secrets, f.net.policy, f.isolation,
		f.unsandboxed, f.memory, f.disk, f.processes, f.preload, f.with, f.node, f.read, f.write, f.python}
	for _, path := range slices.Concat(f.read, f.write, []string{f.script.dir}) {
		var st unix.Stat_t
		_ = unix.Stat(path, &st) // the run reports what is missing
		parts = append(parts, st.Dev, st.Ino)
	}
	for _, s := range append([]string{"=" + f.net.policy}, f.net.secrets...) {
		parts = append(parts, probecache.Stamp(s[strings.Index(s, "=")+1:]))
	}
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

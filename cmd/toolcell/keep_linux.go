package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// keepCommand lists and ends keepers.
func (a *app) keepCommand() *cobra.Command {
	c := &cobra.Command{Use: "keep", Short: "List or end the processes that run --keep and contexts that outlive their host left behind"}
	list := a.command("list", "List them: their ids, what they keep, how long they stay unused, and the languages", nil,
		func(context.Context, *pflag.FlagSet, []string) int { return a.keepers(nil, false) })
	stop := a.command("stop [ID...]", "End them all, or those of these ids", nil,
		func(_ context.Context, _ *pflag.FlagSet, ids []string) int { return a.keepers(ids, true) })
	stop.Args = cobra.ArbitraryArgs
	c.AddCommand(list, stop)
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
	for _, pid := range dir.Keepers("*") {
		id := strconv.Itoa(pid)
		if len(ids) > 0 && !slices.Contains(ids, id) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(s string) bool { return s == id })
		line, err := procfs.File(pid, "cmdline")
		ended := ""
		if err == nil && stop {
			ended, err = end(pid)
		}
		if err == nil { // else it has ended just now
			_, what, _ := strings.Cut(strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " "), " ")
			text += fmt.Sprintf("%s  %s%s\n", id, visible(what), ended)
		}
	}
	sandbox.SweepTemp(os.TempDir())
	if code := a.print(text); code != 0 || len(missing) == 0 {
		return code
	}
	return a.fail(fmt.Errorf("there is no keeper %s; see toolcell keep list", strings.Join(missing, ", ")))
}

// end ends a keeper, and waits until it has. The error is that it has ended before.
func end(pid int) (how string, err error) {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return "", err
	}
	for range 1200 { // it takes no longer than 10 s
		if line, err := procfs.File(pid, "cmdline"); err != nil || len(line) == 0 {
			return ", ended", nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ", does not end", nil
}

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
)

// keep lists and ends what --keep has left.
func (a *app) keep(ctx context.Context, args []string) int {
	if len(args) == 1 && args[0] == serveWord {
		return a.serveRuns(ctx)
	}
	if len(args) != 1 || args[0] != "list" && args[0] != "stop" {
		return a.usageError("use toolcell keep %s", keepSynopsis)
	}
	place, err := keeper.Open(a.getenv)
	if err != nil {
		return a.fail(err)
	}
	defer place.Close()
	for _, k := range place.List() {
		does := does(k)
		if args[0] == "stop" {
			if err := place.Stop(ctx, k); err != nil {
				return a.fail(err)
			}
			does = "ended"
		}
		if code := a.print(saying(k, does) + "\n"); code != 0 {
			return code
		}
	}
	place.Sweep("")
	return 0
}

// does says what a keeper has done, and will do.
func does(k keeper.Kept) string {
	return fmt.Sprintf("since %s, for %s after the last run; runs: %d", k.Since.Format(time.TimeOnly), k.Keep, k.Runs)
}

func saying(k keeper.Kept, does string) string {
	return fmt.Sprintf("%d  %s, %s", k.PID, visible(k.Serve), does)
}

// kept lists the keepers, in the words of keep.
func (a *app) kept() (list []string) {
	place, err := keeper.Open(a.getenv)
	if err != nil {
		return nil
	}
	defer place.Close()
	for _, k := range place.List() {
		list = append(list, saying(k, does(k)))
	}
	return list
}

//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// followSize calls changed when the size of this command's terminal has changed.
func followSize(ctx context.Context, changed func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			changed()
		case <-ctx.Done():
			return
		}
	}
}

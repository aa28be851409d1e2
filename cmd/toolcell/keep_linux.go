package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
)

const canKeep = true

// maxScript is how much a program's arguments may take to be handed to a keeper.
const maxScript = 64 << 10

// offer has a keeper run the program, where there is one that can. Else it starts
// one for later runs, and this one goes on by itself.
func (a *app) offer(ctx context.Context, f *runFlags, args []string, program, file string) (code int, done bool) {
	if f.keep == 0 || f.timeout < 0 || slices.ContainsFunc(append(slices.Clone(f.in), f.out, f.images), own) || len(f.script.python()) > maxScript {
		return 0, false
	}
	standing, err := keeper.Standing()
	if err != nil {
		return 0, a.unkept(f, err)
	}
	key, err := f.key(standing, os.Environ())
	if err != nil {
		return 0, false // the run says so too
	}
	place, err := keeper.Open(a.getenv)
	if err != nil {
		return 0, a.unkept(f, err)
	}
	defer place.Close()
	order := &keeper.Order{Args: args, Env: os.Environ(), Program: []byte(program), File: file, Keep: f.keep,
		Seen: [3]bool{isTerminal(a.stdin), isTerminal(a.stdout), isTerminal(a.stderr)}}
	offer, err := place.Offer(key, standing, order)
	if errors.Is(err, keeper.ErrNone) {
		if len(place.List()) >= maxKeepers {
			return 0, a.unkept(f, fmt.Errorf("there are %d keepers already; toolcell keep stop ends them", maxKeepers))
		}
		if err := a.leave(order); err != nil {
			a.unkept(f, err)
		}
	}
	if err != nil {
		return 0, false
	}
	code, err = offer.Run(ctx, keeper.Streams{In: a.stdin, Out: a.stdout, Err: a.stderr})
	if errors.Is(err, keeper.ErrRefused) {
		return 0, false
	}
	if err != nil {
		return a.fail(fmt.Errorf("%w: what the program did until then is done, and it is not run again", err)), true
	}
	return code, true
}

// unkept says why nothing is kept, where that was asked for. It returns false.
func (a *app) unkept(f *runFlags, err error) bool {
	if f.asked {
		fmt.Fprintf(a.stderr, "toolcell: nothing is kept: %v\n", err)
	}
	return false
}

// leave starts a keeper. It holds nothing of this process's but the pipe by which
// it is told what to keep, and when this process has ended.
func (a *app) leave(order *keeper.Order) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	seed, err := json.Marshal(order)
	if err != nil {
		return err
	}
	cmd := exec.Command("/proc/self/exe", "keep", serveWord)
	cmd.Args[0] = "toolcell"
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	passNothingOn()
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	go cmd.Wait()
	a.ends = w // open until this process ends
	go w.Write(seed)
	return nil
}

// passNothingOn keeps what this process was started with, such as a pipe that
// somebody reads to its end, from processes that it starts.
func passNothingOn() {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, fd := range open {
		if n, err := strconv.Atoi(fd.Name()); err == nil && n > 2 {
			syscall.CloseOnExec(n)
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/codeinterp"
)

const (
	serveWord  = "serve"         // what a keeper is started with
	maxKeepers = 4               // of a user
	firstRun   = 2 * time.Second // that a keeper leaves the processor to the run that started it
)

// A kept is a keeper: an interpreter that is ready, and what it was made of.
type kept struct {
	ci       codeinterp.CodeInterpreter
	key      keeper.Key
	standing string
	watched  map[string]string // paths that must stay as they are

	now *served // the run that is being served
}

// serveRuns is what the process that a run leaves behind does.
func (a *app) serveRuns(ctx context.Context) int {
	started := os.NewFile(3, "started")
	if info, err := started.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return a.usageError("keep serve is what --keep starts")
	}
	if err := a.serveUntil(ctx, started); err != nil && !errors.Is(err, keeper.ErrKept) {
		return a.fail(err)
	}
	return 0
}

func (a *app) serveUntil(ctx context.Context, started *os.File) error {
	var order keeper.Order
	in := json.NewDecoder(started)
	if err := in.Decode(&order); err != nil {
		return err
	}
	k := &kept{}
	var err error
	if k.standing, err = keeper.Standing(); err != nil {
		return err
	}
	f, err := parseKept(&order)
	if err != nil {
		return err
	}
	if k.key, err = f.key(k.standing, order.Env); err != nil {
		return err
	}
	place, err := keeper.Open(a.getenv)
	if err != nil {
		return err
	}
	defer place.Close()
	lock, err := place.Hold(k.key)
	if err != nil {
		return err
	}
	defer lock.Drop()
	if place.Sweep(k.key) >= maxKeepers {
		return fmt.Errorf("there are %d keepers already", maxKeepers)
	}
	if err := lock.Note(keeper.Note{PID: os.Getpid(), Since: time.Now(), Keep: order.Keep.String(), Serve: f.served()}); err != nil {
		return err
	}
	awaitFirst(ctx, started)
	if k.ci, err = f.startKept(ctx); err != nil {
		return err
	}
	defer k.ci.Close()
	if k.watched, err = watched(codeinterp.Describe(k.ci)); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return lock.Serve(ctx, &keeper.Service{Own: k.standing, Idle: order.Keep, Check: k.check, Admit: k.admit, Leave: k.leave, Serve: k.serve})
}

// awaitFirst lets the run that has started this process end first, if that is soon.
func awaitFirst(ctx context.Context, started io.Reader) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, started)
	}()
	select {
	case <-ended:
	case <-time.After(firstRun):
	case <-ctx.Done():
	}
}

// parseKept returns the flags of a request, as those of a run.
func parseKept(order *keeper.Order) (*runFlags, error) {
	f := &runFlags{}
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	getenv := lookUp(order.Env)
	f.registerAll(fs, getenv)
	a := &app{stdout: io.Discard, stderr: io.Discard, getenv: getenv}
	operands, _, done := a.parseLeading(fs, "run", order.Args)
	if done {
		return nil, codeinterp.ErrInvalid
	}
	err := f.settle(fs, order.File, string(order.Program))
	if err == nil && f.keep == 0 {
		err = codeinterp.ErrInvalid
	}
	if err == nil {
		f.script, err = newScript(&f.programFlags, order.File, operands)
	}
	return f, err
}

func lookUp(env []string) func(string) string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// served says in a few words what for.
func (f *runFlags) served() string {
	text := "python"
	switch {
	case f.name != "":
		text += ", environment " + f.name
	case len(f.with) > 0:
		text += " with " + strings.Join(f.with, ", ")
	case f.python != "":
		text += ", " + f.python
	}
	return text
}

// startKept opens the interpreter for runs whose arguments are still to come.
func (f *runFlags) startKept(ctx context.Context) (codeinterp.CodeInterpreter, error) {
	f.script = &script{dir: f.script.dir, later: true}
	f.language, f.timeout = "python", 0
	f.ready = f.env.values
	if f.ready == nil {
		f.ready = map[string]string{}
	}
	return f.start(ctx, false)
}

// check says whether all is as it was when the interpreter was started.
func (k *kept) check() error { return unchanged(k.watched) }

// admit takes a call that this keeper is for.
func (k *kept) admit(order *keeper.Order, dir *os.File) error {
	if err := dir.Chdir(); err != nil {
		return err
	}
	getenv := lookUp(order.Env)
	if err := os.Setenv("PWD", getenv("PWD")); err != nil { // by which os.Getwd names it
		return err
	}
	f, err := parseKept(order)
	if err != nil {
		return err
	}
	key, err := f.key(k.standing, order.Env)
	if err == nil && key != k.key {
		err = errors.New("the call is another keeper's")
	}
	k.now = &served{k, order}
	return err
}

// leave goes where nothing is held up by that.
func (k *kept) leave() {
	k.now = nil
	_ = os.Chdir("/")
	_ = os.Unsetenv("PWD")
}

// serve runs a call as its own process would.
func (k *kept) serve(ctx context.Context, order *keeper.Order, s keeper.Streams) int {
	a := &app{stdin: s.In, stdout: s.Out, stderr: s.Err, getenv: lookUp(order.Env), served: k.now}
	return a.run(ctx, order.Args)
}

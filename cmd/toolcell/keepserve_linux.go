package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/terminal"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/probecache"
)

// endLimit is how long a run has to end after its caller has gone.
const endLimit = 10 * time.Second

// serveRuns serves runs as the keeper of a.key, until its lease ends, its interpreter is out
// of date, or ctx ends. f are the flags of the run that has started it. It ends at once if
// there is such a keeper already.
func (a *app) serveRuns(ctx context.Context, f *runFlags) int {
	dir, err := keeper.Open(a.getenv)
	if err != nil {
		return a.fail(err)
	}
	claim, err := dir.Claim(a.key, 0)
	if err != nil {
		return a.fail(err)
	}
	defer claim.Close()
	// What is ready gets the environment of all runs, and what many programs import.
	f.script = &script{dir: f.script.dir, later: true}
	f.timeout, f.startEnv, f.warm = 0, f.env.values, true
	if len(f.preload) == 0 {
		f.preload = usualModules
	}
	here, _ := os.Getwd()
	ci, code := a.start(ctx, &f.programFlags)
	if ci == nil {
		return code
	}
	defer ci.Close()
	before := stateOf(ci)
	ln, err := claim.Listen(f.keep)
	if err != nil {
		return a.fail(err)
	}
	defer keeper.EndWithin(endLimit)
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for lease := f.keep; ; {
		_ = os.Chdir("/")
		_ = ln.SetDeadline(time.Now().Add(lease))
		conn, err := keeper.Accept(ln)
		if err != nil || stateOf(ci) != before || os.Chdir(here) != nil {
			return 0
		}
		if used := serveRun(ctx, keeper.NewConn(conn), ci); used > 0 {
			lease = used
			claim.SetLease(lease)
		}
	}
}

// serveRun serves one caller and returns the lease that it wants, 0 if nothing ran.
func serveRun(ctx context.Context, c *keeper.Conn, ci codeinterp.CodeInterpreter) time.Duration {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(endLimit))
	err := c.Encode(true)
	var streams []*os.File
	if err == nil {
		streams, err = receiveFiles(c)
	}
	for _, s := range streams {
		defer s.Close()
	}
	q := &keptRun{}
	if err == nil {
		err = c.Decode(q)
	}
	if err != nil || len(streams) != 3 {
		return 0 // the caller has given up
	}
	_ = c.SetDeadline(time.Time{})
	stdin := terminal.NewReader(streams[0])
	if stdin == nil {
		return 0
	}
	defer stdin.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		_, _ = io.Copy(io.Discard, c) // until the caller cancels or ends
		stop()
		select {
		case <-over:
		case <-time.After(endLimit): // it writes to what is not read
			keeper.EndWithin(0)
		}
	}()
	caller := &app{stdin: stdin, stdout: streams[1], stderr: streams[2], getenv: q.getenv, ci: ci, text: q.Program}
	_ = c.Encode(caller.main(ctx, q.Args))
	return q.Lease
}

// getenv is os.Getenv of the caller.
func (q *keptRun) getenv(name string) string {
	for _, v := range q.Env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// receiveFiles reads a byte and the descriptors that come with it.
func receiveFiles(c *keeper.Conn) (files []*os.File, err error) {
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, more, _, _, err := c.ReadMsgUnix(make([]byte, 1), oob)
	if err == nil && n == 0 {
		err = io.EOF
	}
	messages, _ := unix.ParseSocketControlMessage(oob[:more])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "a stream of the caller"))
		}
	}
	return files, err
}

// stateOf describes the files that decide which interpreter a run would start. The
// provider itself looks at the modules that ready processes have imported.
func stateOf(ci codeinterp.CodeInterpreter) (state string) {
	for _, l := range codeinterp.Describe(ci).Languages {
		for _, root := range append(l.Roots, l.Prefix, l.Path) {
			for _, in := range []string{"", "pyvenv.cfg", "*-packages", "lib/python3*/*-packages"} {
				found, _ := filepath.Glob(filepath.Join(root, in))
				for _, path := range found {
					state += path + " " + probecache.Stamp(path) + "\n"
				}
			}
		}
	}
	return state
}

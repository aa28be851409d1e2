package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// reachChecks hold Describe to its word. Where it promises nothing, there is
// nothing to try, and where the code runs on another machine, what they put
// out for it cannot be found anyway.
func reachChecks() []check {
	list := []check{
		{
			name: "ReachFiles", uses: func(p *Programs) bool { return p.ReadFile != nil },
			clause: "where Describe says that the host's files are limited or blocked, code reads none and writes none that the options do not list",
			run:    reachFiles,
		},
		{
			name: "ReachNetwork", uses: func(p *Programs) bool { return p.Connect != nil },
			clause: "where Describe says that the network is blocked, code reaches no address, the host's own included",
			run:    reachNetwork,
		},
		{
			name: "ReachProcesses", uses: func(p *Programs) bool { return p.ReadFile != nil },
			clause: "where Describe says that processes are blocked, code does not see the host's",
			run:    reachProcesses,
		},
		{
			name: "ReachSignals", uses: func(p *Programs) bool { return p.Kill != nil },
			clause: "where Describe says that signals are blocked, code cannot end a process of the host",
			run:    reachSignals,
		},
	}
	for i := range list {
		list[i].scope = everyRun
		list[i].needs = []Feature{Describer}
	}
	return list
}

func (e *env) isolation() codeinterp.Isolation { return codeinterp.Describe(e.ci).Isolation }

// probe runs code that is to get at something, and does not care how that
// ends.
func (e *env) probe(ctx context.Context, code string) (codeinterp.Result, error) {
	return e.run(ctx, code, &codeinterp.RunOptions{Timeout: time.Minute})
}

func reachFiles(ctx context.Context, e *env) error {
	if r := e.isolation().Filesystem; r != codeinterp.ReachBlocked && r != codeinterp.ReachLimited {
		return nil
	}
	dir := need(os.MkdirTemp("", "toolcell-conformance-"))
	defer os.RemoveAll(dir)
	const secret = "what only the host knows"
	path := filepath.Join(dir, "secret.txt")
	// Open to every user of the machine: only the provider's isolation is to keep
	// programs out.
	must(errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, []byte(secret), 0o644)))
	res, err := e.probe(ctx, e.p.ReadFile(path))
	if err == nil && strings.Contains(res.Stdout(), secret) {
		return fmt.Errorf("the program read %s", path)
	}
	if err != nil || e.p.WriteFile == nil {
		return err
	}
	made := filepath.Join(dir, "made.txt")
	must(os.Chmod(dir, 0o777))
	if _, err := e.probe(ctx, e.p.WriteFile(made, "x")); err != nil {
		return err
	}
	if _, err := os.Lstat(made); err == nil {
		return fmt.Errorf("the program wrote %s", made)
	}
	return nil
}

func reachNetwork(ctx context.Context, e *env) error {
	if e.isolation().Network != codeinterp.ReachBlocked {
		return nil
	}
	// Who else may have found the port by chance does not find the next one.
	var reached error
	for range 2 {
		var err error
		if reached, err = e.reaches(ctx); err != nil || reached == nil {
			return err
		}
	}
	return reached
}

// reaches says so where a program connects to a port of this machine.
func (e *env) reaches(ctx context.Context) (reached, err error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if _, err := e.probe(ctx, e.p.Connect(l.Addr().(*net.TCPAddr).Port)); err != nil {
		return nil, err
	}
	// A connection that was made is in the queue by now.
	if err := l.SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		return nil, err
	}
	if c, err := l.Accept(); err == nil {
		_ = c.Close()
		return fmt.Errorf("the program connected to %v", l.Addr()), nil
	}
	return nil, nil
}

func reachProcesses(ctx context.Context, e *env) error {
	path := fmt.Sprintf("/proc/%d/cmdline", os.Getpid())
	own, err := os.ReadFile(path)
	if err != nil || len(own) == 0 || e.isolation().Processes != codeinterp.ReachBlocked {
		return nil
	}
	res, err := e.probe(ctx, e.p.ReadFile(path))
	if err == nil && strings.Contains(res.Stdout(), string(own)) {
		return fmt.Errorf("the program read %s, which is this process's", path)
	}
	return err
}

func reachSignals(ctx context.Context, e *env) error {
	if e.isolation().Signals != codeinterp.ReachBlocked {
		return nil
	}
	arg := sleepArg()
	cmd := exec.Command("sleep", arg)
	if cmd.Start() != nil {
		return nil // there is none on this system
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if !hasArg(cmd.Process.Pid, arg) {
		return nil // no /proc to see it in
	}
	if _, err := e.probe(ctx, e.p.Kill(cmd.Process.Pid)); err != nil {
		return err
	}
	for range 3 {
		if !hasArg(cmd.Process.Pid, arg) { // a zombie has no arguments
			return errors.New("the program killed a process of the host")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

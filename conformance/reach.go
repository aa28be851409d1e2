package conformance

import (
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
	reads := func(p *Programs) bool { return p.ReadFile != nil }
	return []check{
		{
			name: "ReachFiles", scope: everyRun, uses: reads,
			clause: "where Describe says that the host's files are limited or blocked, code reads none and writes none that the options do not list",
			run:    reachFiles,
		},
		{
			name: "ReachNetwork", scope: everyRun, uses: func(p *Programs) bool { return p.Connect != nil },
			clause: "where Describe says that the network is blocked, code reaches no address, the host's own included",
			run: func(e *env) {
				// Who else may have found the port by chance does not find the next one.
				if e.isolation().Network == codeinterp.ReachBlocked && e.reaches() && e.reaches() {
					failf("the program connected to a port of this machine")
				}
			},
		},
		{
			name: "ReachProcesses", scope: everyRun, uses: reads,
			clause: "where Describe says that processes are blocked, code does not see the host's",
			run: func(e *env) {
				path := fmt.Sprintf("/proc/%d/cmdline", os.Getpid())
				own, _ := os.ReadFile(path)
				if len(own) > 0 && e.isolation().Processes == codeinterp.ReachBlocked && strings.Contains(e.probe(e.p.ReadFile(path)), string(own)) {
					failf("the program read %s, which is this process's", path)
				}
			},
		},
		{
			name: "ReachSignals", scope: everyRun, uses: func(p *Programs) bool { return p.Kill != nil },
			clause: "where Describe says that signals are blocked, code cannot end a process of the host",
			run:    reachSignals,
		},
	}
}

func (e *env) isolation() codeinterp.Isolation { return codeinterp.Describe(e.ci).Isolation }

// probe runs code that is to get at something, however that ends, and returns what
// it printed.
func (e *env) probe(code string) string {
	res := need(e.run(code, &codeinterp.RunOptions{Timeout: time.Minute}))
	return res.Stdout()
}

func reachFiles(e *env) {
	if r := e.isolation().Filesystem; r != codeinterp.ReachBlocked && r != codeinterp.ReachLimited {
		return
	}
	dir, remove := hostDirectory() // open to every user: only isolation is to keep programs out
	defer remove()
	const secret = "what only the host knows"
	path := filepath.Join(dir, "secret.txt")
	must(os.WriteFile(path, []byte(secret), 0o644))
	if strings.Contains(e.probe(e.p.ReadFile(path)), secret) {
		failf("the program read %s", path)
	}
	if e.p.WriteFile == nil {
		return
	}
	made := filepath.Join(dir, "made.txt")
	e.probe(e.p.WriteFile(made, "x"))
	if _, err := os.Lstat(made); err == nil {
		failf("the program wrote %s", made)
	}
}

// reaches reports whether a program connects to a port of this machine.
func (e *env) reaches() bool {
	l := need(net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	defer l.Close()
	e.probe(e.p.Connect(l.Addr().(*net.TCPAddr).Port))
	// A connection that was made is in the queue by now.
	must(l.SetDeadline(time.Now().Add(50 * time.Millisecond)))
	c, err := l.Accept()
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func reachSignals(e *env) {
	arg := sleepArg()
	cmd := exec.Command("sleep", arg)
	if e.isolation().Signals != codeinterp.ReachBlocked || cmd.Start() != nil {
		return
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if !hasArg(cmd.Process.Pid, arg) {
		return // no /proc to see it in
	}
	e.probe(e.p.Kill(cmd.Process.Pid))
	for range 3 {
		if !hasArg(cmd.Process.Pid, arg) { // a zombie has no arguments
			failf("the program killed a process of the host")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

package mcptools

import (
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// inherited are the variables that every server has, since programs do not work
// without them.
var inherited = map[string][]string{
	"windows": {"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES",
		"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "COMSPEC"},
	"": {"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"},
}

// environ returns the environment of a server with the given variables of its own.
func environ(own map[string]string) []string {
	list, ok := inherited[runtime.GOOS]
	if !ok {
		list = inherited[""]
	}
	var env []string
	for _, name := range list {
		if v, ok := os.LookupEnv(name); ok && own[name] == "" {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range sortedKeys(own) {
		env = append(env, name+"="+own[name])
	}
	return env
}

// transport returns the way to a server, and what ends everything that was begun
// for it.
func (s *server) transport() (t mcp.Transport, end func(), err error) {
	if s.URL != "" {
		t, err = s.web()
		return t, func() {}, err
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = environ(s.Env), s.Dir, s.set.opts.Stderr
	cmd.WaitDelay = time.Second // what the server started may keep its standard error open
	ownGroup(cmd)
	proc := newProcess(cmd)
	s.proc = proc
	s.mu.Lock()
	s.strays = proc.strays
	s.mu.Unlock()
	p := &patient{Transport: proc}
	if d := s.set.opts.Timeout; d > 0 {
		p.stuck = max(d, minStuck)
	}
	return p, proc.end, nil
}

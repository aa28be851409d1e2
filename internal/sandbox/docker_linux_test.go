//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// inDocker is a host in a container, which may allow Landlock. Where it works, a program
// reaches what its Egress answers and nothing else; where not, the policy is refused.
func inDocker(landlock, works bool) error {
	if err := sandbox.Docker(landlock); err != nil {
		return err
	}
	for _, o := range []sandbox.Options{{Require: sandbox.Bwrap, Egress: true}, {Require: sandbox.None, AllowNone: true, Egress: true}} {
		_, err := sandbox.New(&o)
		if !errors.Is(err, codeinterp.ErrIsolation) || len(err.Error()) < 30 {
			return fmt.Errorf("%v: %v", o.Require, err)
		}
		fmt.Println(err)
	}
	s, err := sandbox.New(&sandbox.Options{AllowNone: true, Egress: true})
	if !works {
		if !errors.Is(err, codeinterp.ErrIsolation) || !strings.Contains(err.Error(), "landlock: ") {
			return fmt.Errorf("not refused: %v", err)
		}
		fmt.Println(err)
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if r := s.Report(); r.Backend != "landlock" || r.Network != codeinterp.ReachLimited {
		return fmt.Errorf("%+v", r)
	}
	dir, err := s.TempDir()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	const code = `
import socket, urllib.request
print(urllib.request.build_opener(urllib.request.ProxyHandler({'http': 'http://127.0.0.1:3128'})).open('http://allowed.test/', timeout=20).read().decode())
print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open('http://allowed.test/', timeout=20).read().decode())
for family, address in (2, ('93.184.216.34', 80)), (2, ('169.254.169.254', 80)), (10, ('::1', 80)):
    try: socket.socket(family).connect(address); print('reached', address)
    except OSError: pass
try: socket.socket(2, socket.SOCK_DGRAM); print('reached by UDP')
except OSError: pass`
	p, err := s.Start(&sandbox.Cmd{Path: python, Args: []string{"python3", "-I", "-c", code}, Workdir: dir, Env: s.Env(dir, nil, nil), Files: []*os.File{nil, w, w}, Egress: trivialGate(80)})
	w.Close()
	if err != nil {
		return err
	}
	out, _ := io.ReadAll(r)
	if exit := p.Wait(); exit.Code != 0 || string(out) != strings.Repeat("hello from allowed.test\n", 2) {
		return fmt.Errorf("%+v: %s", exit, out)
	}
	return nil
}

// dockerCaps are the capabilities that Docker leaves to root.
const dockerCaps = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap"

// TestEgressInDocker: in a container with Docker's default profile, a policy is kept in
// Landlock mode, for root, and for a user without capabilities, and refused in the other
// modes. It is refused altogether to root without capabilities, who can give programs no user of
// their own, and with an older Docker, which has no Landlock.
func TestEgressInDocker(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("the host is not root, or there is no setpriv")
	}
	self := filepath.Join(openTemp(t), "host")
	check(t, os.WriteFile(self, must(os.ReadFile("/proc/self/exe")), 0o755))
	user := []string{"--reuid=1234", "--regid=1234", "--clear-groups"}
	for _, tt := range []struct {
		helper, caps string
		user         []string
	}{{"docker", dockerCaps, nil}, {"docker-old", dockerCaps, nil}, {"docker-no", "-all", nil}, {"docker", "-all", user}, {"docker-old", "-all", user}} {
		t.Run(fmt.Sprint(tt.helper, len(tt.caps), len(tt.user)), func(t *testing.T) {
			cmd := exec.Command(setpriv, append(append([]string{"--bounding-set=" + tt.caps, "--inh-caps=" + tt.caps, "--ambient-caps=-all"}, tt.user...), self)...)
			cmd.Env, cmd.Dir = append(os.Environ(), helperEnv+"="+tt.helper, "TMPDIR=/tmp", "HOME=/tmp"), "/"
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

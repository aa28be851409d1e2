package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/humanevaltest"
)

// jupyterServer starts the server of the test parts and returns its address.
func jupyterServer(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../.testenv/jupyter/server6/bin/jupyter-server")
	if err == nil {
		_, err = os.Stat(bin)
	}
	if err != nil {
		if bin, err = exec.LookPath("jupyter-server"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("no Jupyter server: run internal/testenv/jupyter.sh")
			}
			t.Skip("no Jupyter server: run internal/testenv/jupyter.sh")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir := t.TempDir()
	cmd := exec.Command(bin, "--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1",
		fmt.Sprint("--ServerApp.port=", port), "--ServerApp.token=T", "--IdentityProvider.token=T", "--ServerApp.root_dir="+dir)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(bin) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return fmt.Sprintf("http://127.0.0.1:%d/?token=T", port)
}

// TestHumanEval wants all programs to have the same verdict in a context of the
// subprocess provider and of the jupyter provider.
func TestHumanEval(t *testing.T) {
	programs := humanevaltest.Programs(t)
	if !works(t, "subprocess") {
		if os.Getenv("CI") != "" {
			t.Fatal("no subprocess provider on this machine")
		}
		t.Skip("no subprocess provider on this machine")
	}
	flags := []providerFlags{{provider: "subprocess"}, {provider: "jupyter", jupyterFlags: jupyterFlags{url: jupyterServer(t)}}}
	flags[0].narrow("python")
	var runs []func(code string) string
	for i := range flags {
		opened, err := flags[i].open(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		ci := opened.(codeinterp.StatefulInterpreter)
		id, err := ci.CreateContext(t.Context(), "python", nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, func(code string) string { return verdict(t.Context(), ci, id, code) })
	}
	counts := map[string]int{}
	for i, code := range programs {
		theirs, ours := runs[0](code), runs[1](code)
		counts[ours]++
		if theirs != ours || i%2 == 0 && ours != "ok" {
			t.Errorf("program %d: %s by subprocess, %s by jupyter", i, theirs, ours)
		}
	}
	t.Logf("%d programs: %v", len(programs), counts)
}

func verdict(ctx context.Context, ci codeinterp.StatefulInterpreter, id codeinterp.ContextID, code string) string {
	res, err := ci.RunInContext(ctx, id, code, &codeinterp.RunOptions{Timeout: time.Minute})
	switch {
	case err != nil:
		return err.Error()
	case res.Error != nil:
		return res.Error.Name
	}
	return string(res.Status)
}

//go:build unix

package subprocess_test

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// registry serves packages for pip, uv and npm, the files of which write brings,
// and has the installers use it alone.
func registry(t *testing.T, write func(io.Writer) error) {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case r.Method == http.MethodHead: // nobody would stop what writes
		case strings.HasSuffix(path, ".whl"), strings.HasSuffix(path, ".tgz"):
			_ = write(w)
		case path == "/big":
			fmt.Fprintf(w, `{"name":"big","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"big","version":"1.0.0","dist":{"tarball":"%s/big.tgz"}}}}`, server.URL)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/big-1.0-py3-none-any.whl">big-1.0-py3-none-any.whl</a>`)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	for name, value := range map[string]string{
		"PIP_INDEX_URL": server.URL + "/simple", "PIP_FIND_LINKS": "", "UV_DEFAULT_INDEX": server.URL + "/simple", "npm_config_registry": server.URL,
		"PIP_CACHE_DIR": t.TempDir(), "UV_CACHE_DIR": t.TempDir(), "npm_config_cache": t.TempDir(), "NO_PROXY": "127.0.0.1", "UV_FIND_LINKS": "",
	} {
		t.Setenv(name, value)
	}
}

// installers are those that the machine has, each with what installs by it.
func installers(t *testing.T) map[string]subprocess.EnvironmentOptions {
	base := python(t).Commands[0]
	all := map[string]subprocess.EnvironmentOptions{"pip": {Packages: []string{"big"}, Python: base}}
	if dir, err := filepath.Abs("../../.testenv/uv/bin"); err == nil {
		if _, err := os.Stat(dir); err == nil {
			all["uv"] = subprocess.EnvironmentOptions{Packages: []string{"big"}, Python: base}
		}
	}
	if _, err := exec.LookPath("npm"); err == nil {
		all["npm"] = subprocess.EnvironmentOptions{Packages: []string{"big"}, Language: "javascript"}
	}
	return all
}

// use has an installer be the one that is found.
func use(t *testing.T, name string) {
	dir, err := filepath.Abs("../../.testenv/uv/bin")
	if err != nil {
		t.Fatal(err)
	}
	if name == "uv" {
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	} else if _, err := exec.LookPath("uv"); err == nil && name == "pip" {
		t.Skip("uv is on PATH")
	}
}

// forever writes a wheel, or for npm nothing in particular, until nobody reads it.
func forever(w io.Writer) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.NoCompression) })
	f, err := z.Create("big-1.0.dist-info/METADATA")
	if err == nil {
		_, err = f.Write([]byte("Metadata-Version: 2.1\nName: big\nVersion: 1.0\n"))
	}
	if err == nil {
		f, err = z.Create("big/noise")
	}
	if err == nil {
		_, err = io.Copy(f, rand.NewChaCha8([32]byte{}))
	}
	return err
}

// TestInstallationBounds: an installation ends when it has written too much,
// wherever that lies, or takes too long, and leaves nothing.
func TestInstallationBounds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what processes write")
	}
	for name, opts := range installers(t) {
		t.Run(name+"/endless", func(t *testing.T) {
			use(t, name)
			registry(t, forever)
			opts.Disk = 64 << 20
			e, err := giveUp(t, opts)
			if !errors.Is(err, codeinterp.ErrQuota) {
				t.Errorf("%+v, %v", e, err)
			}
		})
		if name != "pip" { // the deadline is one for all
			continue
		}
		t.Run(name+"/silent", func(t *testing.T) {
			use(t, name)
			end := make(chan struct{})
			registry(t, func(io.Writer) error { <-end; return nil })
			t.Cleanup(func() { close(end) })
			opts.Disk, opts.Timeout = 0, 500*time.Millisecond
			e, err := giveUp(t, opts)
			if !errors.Is(err, codeinterp.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
}

// giveUp wants an installation to end with an error and leave nothing.
func giveUp(t *testing.T, opts subprocess.EnvironmentOptions) (*subprocess.Environment, error) {
	t.Helper()
	opts.Root = leftover.Dir(t)
	e, err := subprocess.NewEnvironment(t.Context(), &opts)
	if left := made(t, opts.Root); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
	return e, err
}

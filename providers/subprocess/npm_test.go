//go:build linux

package subprocess_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// TestGlobalOfNpm: npm has its global configuration from where it has it without
// us, which its prefix says.
func TestGlobalOfNpm(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip(err)
	}
	var asked atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "none", http.StatusNotFound)
	}))
	defer registry.Close()
	for _, name := range []string{"npm_config_registry", "npm_config_prefix", "npm_config_globalconfig", "npm_config_userconfig", "HTTP_PROXY", "npm_config_proxy"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	dir := home(t, map[string]string{"prefix/etc/npmrc": "registry=" + registry.URL + "/\n"})
	if err := os.WriteFile(filepath.Join(dir, ".npmrc"), []byte("prefix="+filepath.Join(dir, "prefix")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	walled(t, func(t *testing.T, mode subprocess.Mode) {
		asked.Store(0)
		_, err := subprocess.NewEnvironment(t.Context(), &subprocess.EnvironmentOptions{Language: "javascript", Packages: []string{"ms@2.1.3"}, Root: leftover.Dir(t), Require: mode})
		if err == nil || asked.Load() == 0 {
			t.Errorf("%v; the registry was asked %d times", err, asked.Load())
		}
	})
}

//go:build linux && real && full

package jupyter_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

func init() {
	kinds["server6"] = kind{"/base/", jupytertest.Options{Env: "server6", Command: jupyterServer}}
	kinds["gateway"] = kind{"/", jupytertest.Options{Env: "gateway", Command: func(_ string, port int) []string {
		return []string{"jupyter", "kernelgateway", "--KernelGatewayApp.ip=127.0.0.1", "--KernelGatewayApp.port=" + strconv.Itoa(port),
			"--KernelGatewayApp.port_retries=0", "--KernelGatewayApp.auth_token=" + jupytertest.Token, "--JupyterWebsocketPersonality.list_kernels=True"}
	}}}
	kinds["eg"] = kind{"/", jupytertest.Options{Env: "eg", Environ: []string{"EG_UNAUTHORIZED_USERS=none"}, Command: func(_ string, port int) []string {
		return []string{"jupyter", "enterprisegateway", "--EnterpriseGatewayApp.ip=127.0.0.1", "--EnterpriseGatewayApp.port=" + strconv.Itoa(port),
			"--EnterpriseGatewayApp.port_retries=0", "--EnterpriseGatewayApp.auth_token=" + jupytertest.Token,
			"--EnterpriseGatewayApp.list_kernels=True", "--EnterpriseGatewayApp.response_port=" + strconv.Itoa(port+1)}
	}}}
	kinds["hub"] = kind{"/user/ada/", jupytertest.Options{Env: "hub", Environ: []string{"CONFIGPROXY_AUTH_TOKEN=" + jupytertest.Token}, Command: jupyterHub}}
}

func jupyterHub(dir string, port int) []string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	env := filepath.Join(wd, "..", "..", ".testenv", "jupyter")
	config := fmt.Sprintf(`
import os
c.JupyterHub.bind_url = "http://127.0.0.1:%d"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:%d"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:%d"
c.ConfigurableHTTPProxy.command = [%q]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = %q
c.Spawner.cmd = [%q, "--allow-root"]
c.Spawner.default_url = "/api"
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300
c.Spawner.environment = {"JUPYTER_CONFIG_DIR": os.environ["JUPYTER_CONFIG_DIR"]}
c.JupyterHub.db_url = "sqlite:///%s/hub.sqlite"
c.JupyterHub.cookie_secret_file = %q
c.JupyterHub.services = [{"name": "tests", "api_token": %q}]
c.JupyterHub.load_roles = [{"name": "tests", "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"], "services": ["tests"]}]
`, port, port+2, port+1, filepath.Join(env, "proxy", "node_modules", ".bin", "configurable-http-proxy"),
		filepath.Join(dir, "{username}"), filepath.Join(env, "hub", "bin", "jupyterhub-singleuser"), dir, filepath.Join(dir, "cookie"), jupytertest.Token)
	path := filepath.Join(dir, "config.py")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		panic(err)
	}
	return []string{"jupyterhub", "-f", path}
}

// addUser makes the hub's user whose server the tests use, and takes a token of theirs.
func (s *server) addUser(t *testing.T) {
	t.Helper()
	users := strings.Replace(s.url, "/user/ada/", "/hub/api/users/ada", 1)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if code, _ := s.post(users); code == http.StatusCreated || code == http.StatusConflict {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the hub did not start\n%s", s.log)
		}
	}
	_, token := s.post(users + "/tokens")
	s.token = token
}

func (s *server) post(url string) (code int, token string) {
	req, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return 0, ""
	}
	req.Header.Set("Authorization", "token "+jupytertest.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	var made struct{ Token string }
	_ = json.NewDecoder(resp.Body).Decode(&made)
	return resp.StatusCode, made.Token
}

// TestConformanceOfServers tries the contract on the other kinds of server.
func TestConformanceOfServers(t *testing.T) {
	for _, name := range []string{"server6", "gateway", "eg", "hub"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, name, name != "eg")
			cfg := conformance.Config{Languages: []string{"python"}}
			if name == "hub" {
				s.addUser(t)
			}
			if name == "gateway" || name == "hub" { // with the default rate limits
				cfg.Lacks = []conformance.Feature{conformance.FullOutput}
			}
			conform(t, s, cfg)
		})
	}
}

// TestKernels runs code in bash_kernel, and in IRkernel where it is installed.
func TestKernels(t *testing.T) {
	s := start(t, "server6", false)
	ci, err := open(t.Context(), s, jupyter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	type want struct {
		stdout string
		status codeinterp.Status
	}
	for language, programs := range map[string]map[string]want{
		"bash": {"x=5; echo $x": {"5", codeinterp.StatusOK}, "false": {"", codeinterp.StatusError}, "sleep 60": {"", codeinterp.StatusTimeout}},
		"r":    {"x <- 5; cat(x)": {"5", codeinterp.StatusOK}, "stop('no')": {"", codeinterp.StatusError}, "Sys.sleep(60)": {"", codeinterp.StatusTimeout}},
	} {
		if !slices.Contains(ci.Languages(), language) {
			continue
		}
		id, err := ci.CreateContext(t.Context(), language, nil)
		if err != nil {
			t.Fatal(err)
		}
		for code, want := range programs {
			res, err := ci.RunInContext(t.Context(), id, code, &codeinterp.RunOptions{Timeout: 5 * time.Second})
			if err != nil || strings.TrimSpace(res.Stdout()) != want.stdout || res.Status != want.status {
				t.Errorf("%s: %q: %+v, %v", language, code, res, err)
			}
		}
	}
}

//go:build linux

package jupyter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func notebookServer(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string) {
	args := append([]string{"--allow-root", "--no-browser", "--ServerApp.ip=127.0.0.1",
		"--ServerApp.port=" + strconv.Itoa(port), "--ServerApp.port_retries=0",
		"--ServerApp.token=" + testToken, "--IdentityProvider.token=" + testToken,
		"--ServerApp.base_url=/base/", "--ServerApp.root_dir=" + dir}, extra...)
	return exec.Command(filepath.Join(bin, "jupyter-server"), args...), fmt.Sprintf("http://127.0.0.1:%d/base", port)
}

// provisioningServer starts kernels by gateway_provisioners, which has them tell
// it where they listen.
func provisioningServer(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string) {
	cmd, url := notebookServer(k, bin, dir, port, extra)
	cmd.Env = append(serverEnv(dir, bin), "GP_UNAUTHORIZED_USERS=nobody", "GP_RESPONSE_IP=127.0.0.1", "GP_RESPONSE_PORT="+strconv.Itoa(port+1), "GP_KERNEL_LOG_DIR="+dir)
	return cmd, url
}

func kernelGateway(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string) {
	args := append([]string{"kernelgateway", "--KernelGatewayApp.ip=127.0.0.1",
		"--KernelGatewayApp.port=" + strconv.Itoa(port), "--KernelGatewayApp.port_retries=0",
		"--KernelGatewayApp.auth_token=" + testToken, "--JupyterWebsocketPersonality.list_kernels=True"}, extra...)
	return exec.Command(filepath.Join(bin, "jupyter"), args...), fmt.Sprintf("http://127.0.0.1:%d", port)
}

func enterpriseGateway(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string) {
	args := append([]string{"enterprisegateway", "--EnterpriseGatewayApp.ip=127.0.0.1",
		"--EnterpriseGatewayApp.port=" + strconv.Itoa(port), "--EnterpriseGatewayApp.port_retries=0",
		"--EnterpriseGatewayApp.auth_token=" + testToken, "--EnterpriseGatewayApp.list_kernels=True",
		"--EnterpriseGatewayApp.response_port=" + strconv.Itoa(port+1)}, extra...)
	cmd := exec.Command(filepath.Join(bin, "jupyter"), args...)
	cmd.Env = append(serverEnv(dir, bin), "EG_UNAUTHORIZED_USERS=nobody")
	return cmd, fmt.Sprintf("http://127.0.0.1:%d", port)
}

func jupyterHub(k kind, bin, dir string, port int, extra []string) (*exec.Cmd, string) {
	api, hub := port+1, port+2
	config := fmt.Sprintf(`
import os, sys
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
c.Spawner.environment = {"JUPYTER_PATH": os.environ["JUPYTER_PATH"]}
c.JupyterHub.db_url = "sqlite:///%s/hub.sqlite"
c.JupyterHub.cookie_secret_file = %q
c.JupyterHub.services = [{"name": "tests", "api_token": %q}]
c.JupyterHub.load_roles = [{"name": "tests", "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"], "services": ["tests"]}]
`, port, hub, api, filepath.Join(testenv(), "proxy", "node_modules", ".bin", "configurable-http-proxy"),
		filepath.Join(dir, "{username}"), filepath.Join(bin, "jupyterhub-singleuser"), dir, filepath.Join(dir, "cookie"), testToken)
	path := filepath.Join(dir, "config.py")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		panic(err)
	}
	cmd := exec.Command(filepath.Join(bin, "jupyterhub"), append([]string{"-f", path}, extra...)...)
	cmd.Env = append(serverEnv(dir, bin), "CONFIGPROXY_AUTH_TOKEN="+testToken)
	return cmd, fmt.Sprintf("http://127.0.0.1:%d/user/ada/", port)
}

// addUser makes the user whose server the tests use, and takes a token of
// theirs.
func (s *server) addUser(t testing.TB) {
	t.Helper()
	hub := strings.Replace(s.url, "/user/ada/", "/hub/api/users/ada", 1)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if code, _ := s.post(hub); code == 201 || code == 409 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the Hub did not start\n%s", s.log)
		}
	}
	code, body := s.post(hub + "/tokens")
	var made struct{ Token string }
	if err := json.Unmarshal(body, &made); err != nil || code != 201 && code != 200 {
		t.Fatalf("token: %d %s", code, body)
	}
	s.token = made.Token
}

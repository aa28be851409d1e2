//go:build real && full && linux

package subprocess_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// A client is a program that people use, and ways to start it that differ in settings. The
// command goes to hosts below $DOMAIN, and prints "works".
type client struct {
	name string
	ways []way
}

// A way is a command and the setting that it has beside the environment of a sandbox.
type way struct{ setting, command string }

// pythonWorks ends a program that has the answer in text.
const pythonWorks = "\nprint('works' if 'auth=true' in text else text)\nEOF"

// clients are those of docs/network.md. BIN is where the test has its programs.
func clients() []client {
	python := func(setting, code string) way {
		return way{setting, "$ENV/clients/bin/python - <<'EOF'\nimport os\nurl = 'https://api.%s/v1/x' % os.environ['DOMAIN']\n" + code + pythonWorks}
	}
	curl := func(flags string) string {
		return fmt.Sprintf("curl -sS -m 30 %s https://api.$DOMAIN/v1/x | grep -q auth=true && curl -sS -m 30 %s --cacert $BIN/server.pem https://tunnel.$DOMAIN/ | grep -q auth=false && echo works", flags, flags)
	}
	node := func(flags string) string {
		return "node " + flags + " -e \"fetch('https://api.' + process.env.DOMAIN + '/v1/x').then((r) => r.text()).then((t) => console.log(t.includes('auth=true') ? 'works' : t))\""
	}
	java := "set -e; awk '/BEGIN/{c=\"\"} {c=c $0 \"\\n\"} END{print c}' $SSL_CERT_FILE >ca.pem; keytool -importcert -noprompt -file ca.pem -keystore ca.p12 -storepass changeit 2>keytool.log || cat keytool.log; " +
		"java -Xmx256m -Djavax.net.ssl.trustStore=ca.p12 -Djavax.net.ssl.trustStorePassword=changeit -cp $BIN Client $DOMAIN"
	return []client{
		{"curl, HTTP/1.1", []way{{"", curl("--http1.1")}}},
		{"curl, HTTP/2", []way{{"", strings.Replace(curl("--http2"), "-sS", "-sS -w %{http_version}", 1)}}},
		{"curl by SOCKS5", []way{{"`--proxy socks5h://127.0.0.1:3128`", curl("--proxy socks5h://127.0.0.1:3128")}}},
		{"curl without a proxy", []way{{"", "env -u https_proxy -u HTTPS_PROXY -u all_proxy -u ALL_PROXY bash -c '" + curl("") + "'"}}},
		{"pip install", []way{{"`PIP_INDEX_URL`", "PIP_RETRIES=0 PIP_INDEX_URL=https://index.$DOMAIN/simple/ $ENV/python/bin/python -m pip install -q --no-cache-dir --target t mine && PYTHONPATH=t python3 -c 'import mine; print(mine.word)'"}}},
		{"uv pip install", []way{{"`UV_DEFAULT_INDEX`", "UV_HTTP_RETRIES=0 UV_DEFAULT_INDEX=https://index.$DOMAIN/simple/ $ENV/uv/bin/uv pip install -q --no-cache --python /usr/bin/python3 --target t mine && PYTHONPATH=t python3 -c 'import mine; print(mine.word)'"}}},
		{"npm install", []way{{"`npm_config_registry`", "npm_config_fetch_retries=0 npm_config_registry=https://npm.$DOMAIN/ npm install --no-audit --no-fund --prefix p mine && node -e \"console.log(require('./p/node_modules/mine'))\""}}},
		{"git clone and push", []way{{"", "git clone -q https://code.$DOMAIN/team/project.git p && cd p && git config user.email a@example.com && git config user.name a && git commit -q --allow-empty -m more && git push -q origin HEAD:refs/heads/$RANDOM && echo works"}}},
		{"urllib", []way{python("", "import urllib.request; text = urllib.request.urlopen(url, timeout=30).read().decode()")}},
		{"requests", []way{python("", "import requests; text = requests.get(url, timeout=30).text")}},
		{"httpx", []way{python("", "import httpx; text = httpx.get(url, timeout=30).text")}},
		{"httpx, HTTP/2", []way{python("", "import httpx; r = httpx.Client(http2=True).get(url, timeout=30); text = r.text if r.http_version == 'HTTP/2' else r.http_version")}},
		{"aiohttp", []way{
			python("", "import aiohttp, asyncio\nasync def get():\n async with aiohttp.ClientSession() as s:\n  async with s.get(url, timeout=aiohttp.ClientTimeout(30)) as r: return await r.text()\ntext = asyncio.run(get())"),
			python("`trust_env=True`", "import aiohttp, asyncio\nasync def get():\n async with aiohttp.ClientSession(trust_env=True) as s:\n  async with s.get(url, timeout=aiohttp.ClientTimeout(30)) as r: return await r.text()\ntext = asyncio.run(get())"),
		}},
		{"node fetch", []way{{"", node("")}}},
		{"Go net/http, static", []way{{"", "$BIN/client $DOMAIN"}}},
		{"Java HttpClient", []way{
			{"a trust store with the last certificate of `SSL_CERT_FILE`; on Debian `ReadOnly` of `/etc/java-17-openjdk`", java},
		}},
	}
}

const goClient = `package main
import ("fmt"; "io"; "net/http"; "os"; "strings")
func main() {
	r, err := http.Get("https://api." + os.Args[1] + "/v1/x")
	if err != nil { fmt.Println(err); os.Exit(1) }
	b, err := io.ReadAll(r.Body)
	if strings.Contains(string(b), "auth=true") { fmt.Println("works"); return }
	fmt.Println(string(b), err)
}`

const javaClient = `import java.net.*; import java.net.http.*;
public class Client { public static void main(String[] a) throws Exception {
	var c = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
	var r = c.send(HttpRequest.newBuilder(URI.create("https://api." + a[0] + "/v1/x")).build(), HttpResponse.BodyHandlers.ofString());
	System.out.println(r.body().contains("auth=true") ? "works" : r.body());
} }`

// A marketplace is the servers of the clients: an API, two package indexes and a git host.
type marketplace struct {
	opts egress.Options
	bin  string // programs and files of the test
	env  string // .testenv
}

func newMarketplace(t *testing.T) *marketplace {
	m := &marketplace{bin: t.TempDir()}
	env, err := filepath.EvalSymlinks("../../.testenv")
	if err != nil {
		t.Fatal(err)
	}
	m.env = env
	srv := httptest.NewUnstartedServer(m.handler(t))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	for name, text := range map[string]string{"server.pem": string(ca), "go.mod": "module client\n", "client.go": goClient, "Client.java": javaClient} {
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"go", "build", "-o", "client", "."}, {"javac", "Client.java"}} {
		c := exec.Command(args[0], args[1:]...)
		c.Dir, c.Env = m.bin, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	if err := errors.Join(os.Chmod(m.bin, 0o755), os.Chmod(filepath.Dir(m.bin), 0o755)); err != nil {
		t.Fatal(err)
	}
	credential := func(host string) egress.Rule { return egress.Rule{Hosts: []string{host}, Credential: true} }
	repository, err := egress.GitRepository("https://code.example.com/team/project", &egress.GitOptions{Write: true, Credential: true})
	if err != nil {
		t.Fatal(err)
	}
	bearer := egress.Bearer("key", networkSecret)
	m.opts = egress.Options{
		Policy:  egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{credential("api.example.com"), credential("index.example.com"), credential("files.example.com"), credential("npm.example.com"), {Hosts: []string{"tunnel.example.com"}}, repository}},
		Secrets: egress.Static{"api.example.com": bearer, "index.example.com": bearer, "files.example.com": bearer, "npm.example.com": bearer, "code.example.com": egress.Basic("push", "bot", networkSecret)},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(goodAddress)}, nil
		},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			return net.Dial("tcp", srv.Listener.Addr().String())
		},
		RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
	}
	return m
}

func (m *marketplace) handler(t *testing.T) http.Handler {
	wheel, tarball := archives(t)
	sum := sha1.Sum(tarball)
	projects := filepath.Join(m.bin, "projects")
	script := "git init -q --bare $P/team/project.git && git -C $P/team/project.git config http.receivepack true && git init -q $P/w && cd $P/w && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m first && git push -q $P/team/project.git HEAD:refs/heads/main"
	c := exec.Command("bash", "-c", script)
	c.Env = append(os.Environ(), "P="+projects)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	git := &cgi.Handler{Path: "/usr/lib/git-core/git-http-backend", Env: []string{"GIT_PROJECT_ROOT=" + projects, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=bot"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		auth := strings.Contains(r.Header.Get("Authorization"), networkSecret) || password == networkSecret
		name, _, _ := strings.Cut(r.Host, ".")
		if name != "tunnel" && name != "api" && !auth {
			http.Error(w, "no credential", http.StatusUnauthorized)
			return
		}
		switch name + r.URL.Path {
		case "index/simple/mine/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="https://files.example.com/mine-1.0-py3-none-any.whl">mine-1.0-py3-none-any.whl</a>`)
		case "files/mine-1.0-py3-none-any.whl":
			http.ServeContent(w, r, "mine.whl", time.Time{}, bytes.NewReader(wheel))
		case "npm/mine":
			fmt.Fprintf(w, `{"name":"mine","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"mine","version":"1.0.0","dist":{"shasum":"%s","tarball":"https://npm.example.com/mine-1.0.0.tgz"}}}}`, hex.EncodeToString(sum[:]))
		case "npm/mine-1.0.0.tgz":
			_, _ = w.Write(tarball)
		default:
			if name == "code" {
				git.ServeHTTP(w, r)
				return
			}
			fmt.Fprintf(w, "%s %s auth=%t\n", r.Proto, r.URL.Path, auth)
		}
	})
}

// archives returns a wheel and an npm package that are called mine.
func archives(t *testing.T) (wheel, tarball []byte) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := "mine-1.0.dist-info/"
	for name, text := range map[string]string{"mine.py": "word = 'works'\n", info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", info + "METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", info + "RECORD": ""} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var c bytes.Buffer
	g := gzip.NewWriter(&c)
	a := tar.NewWriter(g)
	err := z.Close()
	for name, text := range map[string]string{"package/package.json": `{"name":"mine","version":"1.0.0","main":"index.js"}`, "package/index.js": "module.exports = 'works'\n"} {
		err = errors.Join(err, a.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, e := a.Write([]byte(text))
		err = errors.Join(err, e)
	}
	if err := errors.Join(err, a.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), c.Bytes()
}

// Unchanged clients work through the gate in both modes, with a credential
// that they do not have; what each of them needs is the table of docs/network.md. Hosts
// beside the policy are refused to them within seconds.
func TestNetworkClients(t *testing.T) {
	m := newMarketplace(t)
	worked := map[string][]string{}
	java, err := filepath.Glob("/etc/java-*") // Debian's settings of Java
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock} {
		ci, err := subprocess.New(&subprocess.Options{Egress: &m.opts, Sandbox: subprocess.Sandbox{Mode: mode}, Languages: []subprocess.Language{subprocess.Bash()},
			ReadOnly: append(java, m.bin, m.env+"/clients", m.env+"/python", m.env+"/uv"), Env: map[string]string{"BIN": m.bin, "ENV": m.env}, Limits: subprocess.Limits{Memory: -1}})
		if err != nil {
			t.Fatal(err)
		}
		defer ci.Close()
		for _, c := range clients() {
			worked[c.name] = append(worked[c.name], m.try(t, ci, mode, c))
		}
	}
	var table strings.Builder
	table.WriteString("| client | bwrap | Landlock | setting |\n|---|---|---|---|\n")
	for _, c := range clients() {
		row := []string{c.name}
		settings := worked[c.name]
		for i, s := range settings {
			if s == "-" {
				settings[i] = ""
				row = append(row, "no")
			} else {
				row = append(row, "works")
			}
		}
		setting := settings[0]
		if settings[1] != setting {
			setting = strings.TrimPrefix(setting+"; Landlock: "+settings[1], "; ")
		}
		fmt.Fprintf(&table, "| %s | %s |\n", strings.Join(row, " | "), setting)
	}
	doc, err := os.ReadFile("../../docs/network.md")
	if err != nil || !strings.Contains(string(doc), table.String()) {
		t.Errorf("docs/network.md lacks this table (%v):\n%s", err, table.String())
	}
}

// try returns the setting with which a client works, "-" if there is none.
func (m *marketplace) try(t *testing.T, ci codeinterp.CodeInterpreter, mode subprocess.Mode, c client) string {
	shell, _ := codeinterp.Commands(ci)
	run := func(command, domain string) (codeinterp.Result, time.Duration) {
		start := time.Now()
		res, err := shell.RunCommand(t.Context(), command, &codeinterp.CommandOptions{RunOptions: codeinterp.RunOptions{Timeout: time.Minute, Env: map[string]string{"DOMAIN": domain}}})
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(fmt.Sprintf("%+v", res), networkSecret) {
			t.Errorf("%s: the credential is in the output", c.name)
		}
		return res, time.Since(start)
	}
	i := slices.IndexFunc(c.ways, func(w way) bool {
		res, _ := run(w.command, "example.com")
		good := strings.HasSuffix(res.Stdout(), "works\n")
		if !good {
			t.Logf("%v %s %q: %s %s %v", mode, c.name, w.setting, res.Stdout(), res.Stderr(), res.Refusals)
		}
		return good
	})
	if i < 0 {
		return "-"
	}
	res, took := run(c.ways[i].command, "refused.test")
	t.Logf("%v %s refused after %v: %.300s %.300s", mode, c.name, took, res.Stdout(), res.Stderr())
	if strings.Contains(res.Stdout(), "works") || !strings.Contains(strings.Join(res.Refusals, "\n"), ".refused.test") || took > 20*time.Second {
		t.Errorf("%v %s: refused after %v: %s %s %v", mode, c.name, took, res.Stdout(), res.Stderr(), res.Refusals)
	}
	return c.ways[i].setting
}

//go:build real && linux

package git_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/procfs"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

// A desk is a workspace with tools for repositories, whose processes are watched for the
// password.
type desk struct {
	t    *testing.T
	ws   *workspace.Workspace
	dir  string
	stop func() (arguments, environment int)
}

func openDesk(t *testing.T, mode subprocess.Mode, o local.Options) *desk {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	o.Subprocess.Sandbox.Mode, o.Subprocess.Languages = mode, []subprocess.Language{subprocess.Bash()}
	ws, err := local.New("demo", dir, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	d := &desk{t, ws, dir, watchFor(password)}
	ws.Subscribe(func(e workspace.Event) {
		if text, _ := json.Marshal(e); strings.Contains(string(text), password) {
			t.Errorf("an event has the password: %s", text)
		}
	}, nil)
	return d
}

// watchFor counts the processes below this one that have a text in their arguments or
// environment.
func watchFor(secret string) (stop func() (arguments, environment int)) {
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	var found [2]int
	wg.Go(func() {
		for ctx.Err() == nil {
			list, _ := procfs.Descendants()
			for _, st := range list {
				for i, file := range []string{"cmdline", "environ"} {
					b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", st.PID, file))
					if strings.Contains(string(b), secret) {
						found[i]++
					}
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
	return func() (int, int) {
		cancel()
		wg.Wait()
		return found[0], found[1]
	}
}

// call calls a tool, and returns its JSON.
func (d *desk) call(op, args string) string {
	d.t.Helper()
	a := d.ws.Dispatch(d.t.Context(), "workspace__demo__"+op, []byte(args), nil)
	if a.Failure != nil {
		d.t.Errorf("%s: %s", op, a.Text)
	}
	if strings.Contains(a.Text+string(a.JSON()), password) {
		d.t.Errorf("%s answers with the password", op)
	}
	return string(a.JSON())
}

func (d *desk) wants(op, args string, parts ...string) {
	d.t.Helper()
	got := d.call(op, args)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			d.t.Errorf("%s answers %s, without %s", op, got, part)
		}
	}
}

// change clones, changes, commits and pushes by tools alone.
func (d *desk) change(repository, branch string) {
	d.wants("git_clone", `{"repository":"`+repository+`"}`, `"dir":"project"`)
	d.call("write_file", `{"path":"project/README","content":"one\ntwo\n"}`)
	d.call("write_file", `{"path":"project/new","content":"x\n"}`)
	d.wants("git_status", `{"dir":"project"}`, `"branch":"main"`, `"path":"README"`, `"path":"new"`, `"upstream":"origin/main"`)
	d.wants("git_diff", `{"dir":"project"}`, `+two`)
	d.call("git_checkout", `{"dir":"project","branch":"`+branch+`","create":true}`)
	d.wants("git_commit", `{"dir":"project","message":"second\n\nwhy"}`, `"commit":"`)
	d.call("git_push", `{"dir":"project"}`)
	d.wants("git_log", `{"dir":"project","commits":5}`, `"subject":"second"`, `"body":"why"`, `"subject":"first"`)
	d.wants("git_branches", `{"dir":"project"}`, `"name":"`+branch+`"`, `"name":"origin/main"`)
	d.call("git_checkout", `{"dir":"project","branch":"main"}`)
	d.call("git_pull", `{"dir":"project"}`)
	search(d.t, d.dir, password)
}

// TestToolsAskpass: with a pinned credential the password is in no file, argument,
// answer or event, and in the environment of git alone, as Describe says.
func TestToolsAskpass(t *testing.T) {
	url, bare := server(t)
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			d := openDesk(t, mode, local.Options{Subprocess: subprocess.Options{Network: true},
				Git: &git.Options{Credential: &git.Credential{URL: url, User: "bot", Password: password}}})
			if text := d.ws.Git().Describe(); !strings.HasPrefix(text, "askpass: for "+url) {
				t.Errorf("described as %q", text)
			}
			d.change(url+"/team/project.git", mode.String())
			host(t, bare, "rev-parse", mode.String())
			arguments, environment := d.stop()
			t.Logf("the password was seen in the environment %d times", environment)
			if arguments > 0 {
				t.Errorf("the password is in arguments, seen %d times", arguments)
			}
		})
	}
}

// TestToolsEgress: where the policy of the network has the credential, it is nowhere in
// the sandbox.
func TestToolsEgress(t *testing.T) {
	url, bare := server(t)
	rule, err := egress.GitRepository("http://code.example.com/team/project", &egress.GitOptions{Write: true, Credential: true})
	if err != nil {
		t.Fatal(err)
	}
	rule.Insecure = true
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			d := openDesk(t, mode, local.Options{Git: &git.Options{}, Subprocess: subprocess.Options{Egress: &egress.Options{
				Policy:  egress.Policy{Mode: egress.Hosts, Rules: []egress.Rule{rule}},
				Secrets: egress.Static{"code.example.com": egress.Basic("push", "bot", password)},
				Lookup: func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
				},
				Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
					return net.Dial("tcp", strings.TrimPrefix(url, "http://"))
				},
			}}})
			if text := d.ws.Git().Describe(); !strings.HasPrefix(text, "egress:") {
				t.Errorf("described as %q", text)
			}
			d.change("http://code.example.com/team/project.git", "egress-"+mode.String())
			host(t, bare, "rev-parse", "egress-"+mode.String())
			if arguments, environment := d.stop(); arguments > 0 || environment > 0 {
				t.Errorf("the password is in arguments, seen %d times, or in the environment, %d times", arguments, environment)
			}
		})
	}
}

// TestHostileRemote: a repository with submodules, filters, 10,000 branches and names with
// newlines runs nothing on clone, status, diff and log.
func TestHostileRemote(t *testing.T) {
	names := []string{"a\nb", "-rf", "--upload-pack=touch ran", "\x1b[31mred", "$(touch ran)", "`touch ran`", ".gitattributes", ".gitmodules"}
	url, _ := serve(t, func(seed string) {
		for _, name := range names {
			text := map[string]string{
				".gitattributes": "* filter=x diff=x merge=x\n",
				".gitmodules":    "[submodule \"s\"]\n\tpath = s\n\turl = ext::sh -c touch% ran\n\tupdate = !touch ran\n[submodule \"--u\"]\n\tpath = u\n\turl = -u./ran\n",
			}[name]
			if err := os.WriteFile(filepath.Join(seed, name), []byte(text+"x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		host(t, seed, "add", "--all")
		host(t, seed, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",s")
		host(t, seed, "commit", "-q", "-m", "$(touch ran)\n\n`touch ran`")
		head := strings.TrimSpace(host(t, seed, "rev-parse", "HEAD"))
		packed, err := os.OpenFile(filepath.Join(seed, ".git", "packed-refs"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		for n := range 10_000 {
			fmt.Fprintf(packed, "%s refs/heads/b%05d\n", head, n)
		}
	})
	ci, dir := open(t, subprocess.Landlock)
	g, err := git.New(ci, &git.Options{Dir: "p", Credential: &git.Credential{URL: url, User: "bot", Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := g.Clone(ctx, url+"/team/project.git", nil); err != nil {
		t.Fatal(err)
	}
	if res, err := ci.RunCode(ctx, "bash", "cd p && for f in * .gitattributes; do echo more >>\"./$f\"; done", nil); err != nil || res.Status != codeinterp.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	status, err := g.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names[:7] {
		if !slices.ContainsFunc(status.Files, func(f git.File) bool { return f.Path == name }) {
			t.Errorf("status lacks %q", name)
		}
	}
	if d, err := g.Diff(ctx, nil); err != nil || !strings.Contains(d, "\n+more\n") {
		t.Errorf("diff: %v", err)
	}
	if list, err := g.Log(ctx, nil); err != nil || len(list) != 1 || list[0].Subject != "$(touch ran)" {
		t.Errorf("log: %+v, %v", list, err)
	}
	if list, err := g.Branches(ctx); err != nil || len(list) != git.MaxBranches {
		t.Errorf("%d branches, %v", len(list), err)
	}
	for _, pattern := range []string{"ran", "*/ran", "p/s/*", "p/u"} {
		if ran, _ := filepath.Glob(filepath.Join(dir, pattern)); len(ran) > 0 {
			t.Errorf("something ran: %q", ran)
		}
	}
}

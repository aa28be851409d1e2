//go:build real && linux

package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const password = "pw-0123456789-abcdef"

// server serves a bare repository with one commit over http, with a password.
func server(t *testing.T) (url, bare string) {
	return serve(t, func(seed string) {
		if err := os.WriteFile(filepath.Join(seed, "README"), []byte("one\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		host(t, seed, "add", "README")
		host(t, seed, "commit", "-q", "-m", "first\n\nbody")
	})
}

// serve serves a bare repository of what fill commits to main in a work tree.
func serve(t *testing.T, fill func(seed string)) (url, bare string) {
	root := t.TempDir()
	bare = filepath.Join(root, "team", "project.git")
	host(t, root, "init", "-q", "--bare", "-b", "main", bare)
	host(t, bare, "config", "http.receivepack", "true")
	seed := filepath.Join(root, "seed")
	host(t, root, "clone", "-q", bare, seed)
	host(t, seed, "checkout", "-q", "-b", "main")
	fill(seed)
	host(t, seed, "push", "-q", "--all", "origin")
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=u"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pw, _ := r.BasicAuth(); user != "bot" || pw != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, bare
}

// host runs the host's git, in directories that no program has written to.
func host(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func open(t *testing.T, mode subprocess.Mode) (codeinterp.CodeInterpreter, string) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // programs of a root host are another user's
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	ci, err := subprocess.New(&subprocess.Options{Dir: dir, Network: true, Sandbox: subprocess.Sandbox{Mode: mode}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ci.Close() })
	return ci, dir
}

// The whole way of a change: clone, edit, status, diff, commit, push, pull, with a
// password that is in no file, argument or error.
func TestGit(t *testing.T) {
	url, bare := server(t)
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		ci, dir := open(t, mode)
		name := mode.String()
		ctx := t.Context()
		g, err := git.New(ci, &git.Options{Dir: "p", Name: "Bot", Email: "bot@localhost", Credential: &git.Credential{URL: url, User: "bot", Password: password}})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Clone(ctx, url+"/team/project.git", nil); err != nil {
			t.Fatal(name, err)
		}
		awkward := "a b\n'c'.txt"
		for file, text := range map[string]string{"README": "one\ntwo\n", awkward: "x\n"} {
			if err := os.WriteFile(filepath.Join(dir, "p", file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		s, err := g.Status(ctx)
		if err != nil || s.Branch != "main" || s.Upstream != "origin/main" || len(s.Files) != 2 || s.Files[0].Path != "README" || s.Files[1].Path != awkward {
			t.Fatalf("%s: %+v %v", name, s, err)
		}
		if d, err := g.Diff(ctx, nil); err != nil || !strings.Contains(d, "\n+two\n") {
			t.Errorf("%s: diff %q %v", name, d, err)
		}
		if err := g.Checkout(ctx, "work-"+strings.ToLower(name), true); err != nil {
			t.Error(name, err)
		}
		if err := g.Add(ctx); err != nil {
			t.Error(name, err)
		}
		hash, err := g.Commit(ctx, "second -- it's \"quoted\"\n\nwhy")
		if err != nil || len(hash) != 40 {
			t.Fatalf("%s: commit %q %v", name, hash, err)
		}
		if err := g.Push(ctx); err != nil {
			t.Error(name, err)
		}
		if got := strings.TrimSpace(host(t, bare, "rev-parse", "work-"+strings.ToLower(name))); got != hash {
			t.Errorf("%s: pushed %s, committed %s", name, got, hash)
		}
		log, err := g.Log(ctx, nil)
		if err != nil || len(log) != 2 || log[0].Subject != `second -- it's "quoted"` || log[0].Body != "why" || log[0].Author != "Bot" || log[1].Body != "body" {
			t.Errorf("%s: log %+v %v", name, log, err)
		}
		branches, err := g.Branches(ctx)
		if err != nil || len(branches) < 3 {
			t.Errorf("%s: branches %+v %v", name, branches, err)
		}
		if err := g.Checkout(ctx, "main", false); err != nil {
			t.Error(name, err)
		}
		if err := g.Pull(ctx); err != nil {
			t.Error(name, err)
		}
		search(t, dir, password)
		wrong, _ := git.New(ci, &git.Options{Dir: "q", Credential: &git.Credential{URL: "http://other.test", User: "bot", Password: password}})
		if err := wrong.Clone(ctx, url+"/team/project.git", nil); !errors.Is(err, git.ErrGit) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: with the credential of another host: %v", name, err)
		}
	}
}

// search fails if a file below dir has the secret.
func search(t *testing.T, dir, secret string) {
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s has the secret", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A repository that a program has prepared runs nothing on status, diff, log, add and
// commit.
func TestHostileRepository(t *testing.T) {
	ci, dir := open(t, subprocess.Landlock)
	g, err := git.New(ci, &git.Options{Dir: "p"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ci.RunCode(t.Context(), "bash", `
		export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
		mkdir p; cd p; git init -q -b main; echo one >f; git add f
		git -c user.name=a -c user.email=a@b commit -q -m first
		printf '#!/bin/sh\ntouch %s/ran-$(basename $0)\ncat\n' "$PWD/.." >../evil; chmod +x ../evil; E="sh $PWD/../evil"
		for h in pre-commit post-commit post-checkout prepare-commit-msg commit-msg post-index-change reference-transaction; do cp ../evil .git/hooks/$h; done
		git config core.fsmonitor "$E"; git config core.pager "$E"; git config diff.external "$E"; git config core.editor "$E"
		git config core.sshCommand "$E"; git config core.askPass "$E"; git config credential.helper "$E"; git config gpg.program "$E"; git config commit.gpgSign true
		git config filter.x.clean "$E"; git config filter.x.smudge "$E"; git config filter.x.required true; git config filter.y.process "$E"
		git config diff.x.command "$E"; git config diff.x.textconv "$E"; git config merge.x.driver "$E %A"; git config alias.status "!$E"
		git config core.hooksPath .git/hooks; git config uploadpack.packObjectsHook "$E"; git config sequence.editor "$E"; git config pager.log "$E"
		git config remote.origin.url "ext::$E"; git config protocol.ext.allow always; git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
		git config branch.main.remote origin; git config branch.main.merge refs/heads/main; git config gc.auto 1; git config core.gitProxy "$E"
		git config submodule.s.url "ext::$E"; git config submodule.s.update "!$E"; git config submodule.recurse true
		printf '* filter=x diff=x merge=x\n*.y filter=y\n' >.gitattributes; cp .gitattributes .git/info/attributes
		echo two >f; echo z >a.y; rm -f ../ran-*`, nil)
	if err != nil || res.Status != codeinterp.StatusOK {
		t.Fatalf("%+v %v", res, err)
	}
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"status": func() error { _, err := g.Status(ctx); return err },
		"diff":   func() error { _, err := g.Diff(ctx, nil); return err },
		"log":    func() error { _, err := g.Log(ctx, nil); return err },
		"add":    func() error { return g.Add(ctx) },
		"commit": func() error { _, err := g.Commit(ctx, "second"); return err },
		"branch": func() error { _, err := g.Branches(ctx); return err },
		"new":    func() error { return g.Checkout(ctx, "b"+fmt.Sprint(os.Getpid()), true) },
		"pull":   func() error { return g.Pull(ctx) },
		"push":   func() error { return g.Push(ctx) },
	} {
		if err := call(); err != nil && name != "commit" && name != "pull" && name != "push" {
			t.Errorf("%s: %v", name, err)
		}
		if ran, _ := filepath.Glob(filepath.Join(dir, "ran-*")); len(ran) > 0 {
			t.Fatalf("%s ran %v", name, ran)
		}
	}
	// Plain git runs it: the repository is as hostile as it is meant to be.
	res, _ = ci.RunCode(ctx, "bash", "cd p; export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null; touch f; git status; git diff", nil)
	if ran, _ := filepath.Glob(filepath.Join(dir, "ran-*")); len(ran) == 0 {
		t.Errorf("plain git status runs nothing either: %s%s", res.Stdout(), res.Stderr())
	}
}

// TestHostileSubmodule: the filters of a repository within a repository do not run.
func TestHostileSubmodule(t *testing.T) {
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		ci, dir := open(t, mode)
		g, err := git.New(ci, &git.Options{Dir: "p"})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if res, err := ci.RunCode(ctx, "bash", `GIT_CONFIG_GLOBAL=/dev/null git init -q -b main p`, nil); err != nil || !res.OK() {
			t.Fatal(res.Stderr(), err)
		}
		if err := g.Add(ctx); err != nil {
			t.Fatal(mode, err)
		}
		res, err := ci.RunCode(ctx, "bash", `
			export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
			W=$PWD; cd p; echo one >f; mkdir d
			for s in "s\"'x" d/t; do
				git init -q -b main "$s"; ( cd "$s"; echo x >x; echo '* filter=e' >.gitattributes; git add .; git commit -q -m s; git config filter.e.clean "touch $W/ran; cat" )
				git add "$s"
			done
			git commit -q -m first; echo two >f; echo z >d/z; echo y | tee */x d/t/x; rm -f $W/ran`, nil)
		if err != nil || res.Status != codeinterp.StatusOK {
			t.Fatalf("%s: %+v %v", mode, res, err)
		}
		if err := g.In("p/d").Add(ctx); err != nil {
			t.Error(mode, err)
		}
		if err := errors.Join(g.Add(ctx, "."), g.Add(ctx, "f")); err != nil {
			t.Error(mode, err)
		}
		if _, err := g.Commit(ctx, "second"); err != nil {
			t.Error(mode, err)
		}
		if _, err := g.Commit(ctx, "third"); !errors.Is(err, git.ErrGit) || !strings.Contains(err.Error(), "nothing to commit") {
			t.Error(mode, err)
		}
		if s, err := g.Status(ctx); err != nil || len(s.Files) > 0 {
			t.Errorf("%s: %+v %v", mode, s, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("%s: a filter ran", mode)
		}
		_, _ = ci.RunCode(ctx, "bash", `cd p; git -c safe.directory='*' status`, nil)
		if _, err := os.Stat(filepath.Join(dir, "ran")); err != nil {
			t.Errorf("%s: plain git runs nothing either", mode)
		}
	}
}

// TestHostilePull: neither programs that a repository names for signatures and hooks run on
// a pull, nor does the password go to its proxy.
func TestHostilePull(t *testing.T) {
	var seed string
	url, _ := serve(t, func(s string) {
		seed = s
		host(t, s, "commit", "-q", "--allow-empty", "-m", "first")
	})
	ci, dir := open(t, subprocess.Bwrap)
	g, err := git.New(ci, &git.Options{Dir: "p", Credential: &git.Credential{URL: url, User: "bot", Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := g.Clone(ctx, url+"/team/project.git", nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(seed, ".git", "commit")
	signed := fmt.Sprintf("tree %sparent %sauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n"+
		"gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n\nsigned\n", host(t, seed, "write-tree"), host(t, seed, "rev-parse", "HEAD"))
	if err := os.WriteFile(file, []byte(signed), 0o644); err != nil {
		t.Fatal(err)
	}
	host(t, seed, "reset", "-q", "--hard", strings.TrimSpace(host(t, seed, "hash-object", "-t", "commit", "-w", file)))
	host(t, seed, "push", "-q", "origin", "main")
	res, err := ci.RunCode(ctx, "bash", `
		printf '#!/bin/sh\ntouch '$PWD'/ran\n' >evil; chmod +x evil; E=$PWD/evil; cd p
		git() { command git -c safe.directory='*' "$@"; }
		git config merge.verifySignatures true; git config gpg.ssh.program $E; git config gpg.ssh.allowedSignersFile /etc/passwd
		git config hook.x.command $E; git config hook.x.event reference-transaction; git config credential.`+url+`.helper "!$E"`, nil)
	if err != nil || res.Status != codeinterp.StatusOK {
		t.Fatalf("%+v %v", res, err)
	}
	if err := g.Pull(ctx); !errors.Is(err, git.ErrGit) { // it cannot be verified
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a program of the repository ran")
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a proxy gets %s", r.URL) }))
	defer proxy.Close()
	for _, key := range []string{"http.proxy", "http." + url + ".proxy"} {
		_, _ = ci.RunCode(ctx, "bash", "cd p; git config --replace-all "+key+" "+proxy.URL, nil)
		if err := g.Pull(ctx); !errors.Is(err, git.ErrGit) || !strings.Contains(err.Error(), "proxy") {
			t.Error(err)
		}
	}
}

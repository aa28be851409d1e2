// Package git works with a repository inside an interpreter's walls: by the git that
// is installed there, with typed answers.
//
//	g, err := git.New(ci, &git.Options{Dir: "project"})
//	err = g.Clone(ctx, "https://code.example.com/team/project.git", nil)
//	status, err := g.Status(ctx)
//
// # Security
//
// A program can write anything into a repository's configuration. Calls of this package
// run none of it: hooks, filters, file system monitors, external diffs, text
// conversions, pagers and credential helpers are off, submodules are left alone, and
// remotes are reached over http and https only. Never run the host's git in a directory
// that programs write to.
//
// With Options.Credential, git asks for the password of that one destination, and calls fail
// in a repository that configures proxies or certificates: use Options.Env. It is in
// the environment of git's processes while they run, where programs of the same user
// can read it; it is in no file, argument or error. Where an egress policy adds the
// credential, it is nowhere in the sandbox.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Errors of calls; those of codeinterp come as they are.
var (
	// ErrGit: git has refused or failed; the text is its own.
	ErrGit = errors.New("git failed")

	// ErrMissing: git is not installed where programs run.
	ErrMissing = errors.New("git is not installed")
)

// Options tunes New. The zero value is ready to use.
type Options struct {
	// Dir is the repository, relative to where programs start or absolute as they see
	// it. Empty means where they start.
	Dir string

	// Name and Email are the author of commits. Empty means "agent" and
	// "agent@localhost".
	Name, Email string

	// Credential answers for one destination.
	Credential *Credential

	// Timeout bounds each call. Zero means two minutes.
	Timeout time.Duration

	// Env is added to the environment of git, such as that of a proxy.
	Env map[string]string
}

// A Credential is a user and a password for one URL, and what is below it.
type Credential struct {
	URL      string // such as "https://code.example.com/team"
	User     string
	Password string
}

// A Git runs git in one directory. Its methods may be called concurrently.
type Git struct {
	ci  codeinterp.CodeInterpreter
	run codeinterp.Commander
	o   Options
}

// New returns a Git over ci, which must run commands (codeinterp.ErrUnavailable).
func New(ci codeinterp.CodeInterpreter, opts *Options) (*Git, error) {
	run, ok := codeinterp.Commands(ci)
	if !ok {
		return nil, fmt.Errorf("git: %w: this interpreter runs no commands", codeinterp.ErrUnavailable)
	}
	g := &Git{ci: ci, run: run}
	if opts != nil {
		g.o = *opts
	}
	g.o.Timeout = cmp.Or(g.o.Timeout, 2*time.Minute)
	g.o.Name, g.o.Email = cmp.Or(g.o.Name, "agent"), cmp.Or(g.o.Email, "agent@localhost")
	if c := g.o.Credential; c != nil {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("git: %w: the credential's URL is not one of http or https without a user", codeinterp.ErrInvalid)
		}
	}
	return g, nil
}

// In returns a Git for another directory; see Options.Dir.
func (g *Git) In(dir string) *Git {
	other := *g
	other.o.Dir = dir
	return &other
}

// With returns a Git with middlewares around each of its commands, the first outermost.
func (g *Git) With(mw ...codeinterp.Middleware) *Git {
	if len(mw) == 0 {
		return g
	}
	other := *g
	other.ci = codeinterp.Wrap(g.ci, mw...)
	other.run, _ = codeinterp.Commands(other.ci)
	return &other
}

// Info returns what the interpreter says of itself.
func (g *Git) Info() codeinterp.Info { return codeinterp.Describe(g.ci) }

// Describe says where repositories get their credentials from, and who can read these.
func (g *Git) Describe() string {
	hosts := g.Info().Isolation.Hosts
	switch {
	case g.o.Credential != nil:
		return "askpass: for " + g.o.Credential.URL + " the password is in the environment of git's processes while they run, where programs of the same user can read it"
	case len(hosts) > 0:
		return "egress: the policy of the network adds credentials outside of the sandbox"
	}
	return "none"
}

// A setting is a line of git's configuration.
type setting struct{ key, value string }

// safe turns off what a repository could run; its own configuration is read before it.
var safe = []setting{
	{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.sshCommand", "false"},
	{"core.alternateRefsCommand", "true"}, {"core.pager", "cat"}, {"core.editor", "false"}, {"core.askPass", ""}, {"core.quotePath", "false"},
	{"credential.helper", ""}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"}, {"diff.external", ""},
	{"gpg.program", "false"}, {"gpg.x509.program", "false"}, {"gpg.ssh.program", "false"}, {"gpg.ssh.defaultKeyCommand", "false"},
	{"submodule.recurse", "false"}, {"fetch.recurseSubmodules", "false"}, {"push.recurseSubmodules", "no"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"safe.directory", "*"}, {"init.defaultBranch", "main"}, {"pull.ff", "only"}, {"advice.detachedHead", "false"},
}

// environment returns that of a call.
func (g *Git) environment(extra []setting) map[string]string {
	settings := append(slices.Clone(safe), setting{"user.name", g.o.Name}, setting{"user.email", g.o.Email})
	env := map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "http:https",
		"GIT_PAGER": "cat", "GIT_EDITOR": "false", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "LC_ALL": "C",
	}
	if c := g.o.Credential; c != nil {
		// git itself compares the URL; the helper is asked for that one only.
		settings = append(settings,
			setting{"credential.useHttpPath", "true"},
			setting{"credential." + c.URL + ".helper", `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$GIT_PINNED_USER" "$GIT_PINNED_PASSWORD"; }; f`})
		env["GIT_PINNED_USER"], env["GIT_PINNED_PASSWORD"] = c.User, c.Password
	}
	settings = append(settings, extra...)
	env["GIT_CONFIG_COUNT"] = strconv.Itoa(len(settings))
	for i, s := range settings {
		env["GIT_CONFIG_KEY_"+strconv.Itoa(i)], env["GIT_CONFIG_VALUE_"+strconv.Itoa(i)] = s.key, s.value
	}
	maps.Copy(env, g.o.Env)
	return env
}

// off are the values with which filters and drivers do nothing, where it is not the empty one.
var off = map[string]string{"required": "false", "uploadpack": "false", "receivepack": "false", "driver": "false"}

// drivers returns settings that turn off the filters and drivers which the
// repository's own configuration names.
func (g *Git) drivers(ctx context.Context) ([]setting, error) {
	const which = `^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv)|merge\..*\.driver|remote\..*\.(vcs|uploadpack|receivepack|proxy)|hook\..*\.command|http\.(.*\.)?(proxy|sslverify|sslcainfo|sslcapath|curloptresolve))$`
	out, err := g.command(ctx, nil, "config", "-z", "--name-only", "--get-regexp", which)
	if failed, ok := errors.AsType[*failure](err); ok && failed.code == 1 { // there are none
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var list []setting
	for key := range strings.FieldsFuncSeq(out, func(c rune) bool { return c == 0 }) {
		value := off[key[strings.LastIndexByte(key, '.')+1:]]
		switch {
		case strings.HasPrefix(key, "http.") && g.o.Credential != nil:
			return nil, fmt.Errorf("git: %w: the repository's configuration has %.100q, with which the credential could go elsewhere", ErrGit, key)
		case strings.HasPrefix(key, "http."):
			continue
		case strings.HasPrefix(key, "hook."): // since git 2.54
			value = "true"
			list = append(list, setting{strings.TrimSuffix(key, "command") + "enabled", "false"})
		}
		list = append(list, setting{key, value})
	}
	if len(list) > maxDrivers {
		return nil, fmt.Errorf("git: %w: the repository configures %d filters and drivers", ErrGit, len(list))
	}
	return list, nil
}

const (
	maxDrivers = 500
	maxText    = 4000
	maxOutput  = 4 << 20
)

// git runs git in the repository, where nothing of it is run.
func (g *Git) git(ctx context.Context, args ...string) (string, error) {
	extra, err := g.drivers(ctx)
	if err != nil {
		return "", err
	}
	return g.command(ctx, extra, args...)
}

// nested returns pathspecs without the repositories within the index, in whose work trees
// git would look for changes, by their configuration. none is what they are added to if there
// are no paths.
func (g *Git) nested(ctx context.Context, none string, paths []string) ([]string, error) {
	out, err := g.shell(ctx, nil, "ls-files", "{ git ls-files --stage --full-name -z -- :/ || printf '160000 failed\\0'; } | tr '\\n\\0' '\\1\\n' | grep -a '^160000' || test $? = 1")
	if err != nil || out == "" {
		return paths, err
	}
	if len(paths) == 0 {
		paths = []string{none}
	}
	for line := range strings.Lines(out) {
		_, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			if _, err = g.command(ctx, nil, "ls-files", "--stage"); err == nil {
				err = fmt.Errorf("git ls-files: %w", ErrGit)
			}
			return nil, err
		}
		paths = append(paths, ":(top,exclude,literal)"+strings.ReplaceAll(path, "\x01", "\n"))
	}
	return paths, nil
}

// command runs git once, and returns what it wrote to stdout.
func (g *Git) command(ctx context.Context, extra []setting, args ...string) (string, error) {
	line := "exec git"
	for _, a := range args {
		if strings.ContainsRune(a, 0) {
			return "", fmt.Errorf("git %s: %w: a NUL byte in %.100q", args[0], codeinterp.ErrInvalid, a)
		}
		line += " " + quote(a)
	}
	return g.shell(ctx, extra, args[0], line)
}

// shell runs a line, which is the command op of git.
func (g *Git) shell(ctx context.Context, extra []setting, op, line string) (string, error) {
	res, err := g.run.RunCommand(ctx, line, &codeinterp.CommandOptions{
		RunOptions: codeinterp.RunOptions{Timeout: g.o.Timeout, Env: g.environment(extra), MaxOutput: maxOutput}, Cwd: g.o.Dir,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("git %s: %w", op, err)
	case res.Status == codeinterp.StatusOK && res.ExitCode == 0:
		if len(res.Truncated) > 0 {
			return "", fmt.Errorf("git %s: %w: the answer is longer than %d bytes", op, ErrGit, maxOutput)
		}
		return res.Stdout(), nil
	case res.ExitCode == 127 || res.ExitCode == 126 && strings.Contains(res.Stderr(), "git"):
		return "", fmt.Errorf("git %s: %w", op, ErrMissing)
	}
	// Its reason is on stdout as where there is nothing to commit.
	text := cmp.Or(strings.TrimSpace(res.Stderr()), strings.TrimSpace(res.Stdout()), fmt.Sprintf("%s, exit code %d", res.Status, res.ExitCode))
	if c := g.o.Credential; c != nil && c.Password != "" {
		text = strings.ReplaceAll(text, c.Password, "***")
	}
	if len(res.Refusals) > 0 {
		text += "\n" + strings.Join(res.Refusals, "\n")
	}
	return "", &failure{op: op, code: res.ExitCode, text: text[:min(len(text), maxText)]}
}

// A failure is how git ended.
type failure struct {
	op, text string
	code     int
}

func (f *failure) Error() string        { return "git " + f.op + ": " + f.text }
func (f *failure) Is(target error) bool { return target == ErrGit }

// quote makes one word of a shell's command line.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

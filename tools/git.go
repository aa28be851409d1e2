package tools

import (
	"cmp"
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// ForGit returns the tools for repositories in a workspace, in a fixed order. opts may be
// nil. Each command of git is reported like a command of the shell.
func ForGit(workspace string, g *git.Git, opts *Options) ([]Tool, error) {
	o, err := opts.complete(workspace)
	if err != nil {
		return nil, err
	}
	info := g.Info()
	k := &kit{Options: o, workspace: workspace, git: g}
	k.limits = k.Options.limits(info.Limits)
	k.facts = newFacts(info, k)
	return k.tools()
}

const (
	maxGitFiles  = 500     // of a status
	maxGitLog    = 200     // commits
	defaultLog   = 20      //
	maxGitBody   = 2 << 10 // of a commit
	gitDirectory = "The repository's directory, relative to where commands start; that itself unless given."
)

// The arguments of the git tools.
var (
	argGitDir = argument{
		name: "dir", about: gitDirectory, optional: true,
		to: func(in *input) any { return &in.dir },
	}
	argRepository = argument{
		name: "repository", about: "The http or https URL of the repository, without a user or password.",
		to: func(in *input) any { return &in.path },
	}
	argCloneDir = argument{
		name: "dir", about: "The new directory, relative to where commands start; the repository's name unless given.", optional: true,
		to: argGitDir.to,
	}
	argBranchOf = argument{
		name: "branch", about: "The branch to check out; the repository's own unless given.", optional: true,
		to: func(in *input) any { return &in.branch },
	}
	argBranch = argument{
		name: "branch", about: "The branch or commit.",
		to: argBranchOf.to,
	}
	argCreate = argument{
		name: "create", about: "The branch is new. False unless given.", optional: true,
		to: func(in *input) any { return &in.create },
	}
	argGitPath = argument{
		name: "path", about: "Only this file or directory, relative to the repository.", optional: true,
		to: argPath.to,
	}
	argFromCommit = argument{
		name: "from", about: "The commit or branch to begin with: a diff compares with it, a log goes back from it.", optional: true,
		to: func(in *input) any { return &in.from },
	}
	argToCommit = argument{
		name: "to", about: "The commit or branch that is compared; the files as they are unless given.", optional: true,
		to: func(in *input) any { return &in.to },
	}
	argStaged = argument{
		name: "staged", about: "Compare what is staged for the next commit. False unless given.", optional: true,
		to: func(in *input) any { return &in.staged },
	}
	argCommits = argument{
		name: "commits", about: "How many commits to list: 20 unless given, 200 at most.", optional: true,
		to:     func(in *input) any { return &in.lines },
		bounds: func(*limits) (int64, int64) { return 1, maxGitLog },
	}
	argMessage = argument{
		name: "message", about: "The commit message: a short first line, then an empty line and why.",
		to: func(in *input) any { return &in.message },
	}
)

type clonedJSON struct {
	Dir string `json:"dir" jsonschema:"description=The directory of the clone\\, for other calls."`
}

type gitFileJSON struct {
	Path     string `json:"path"`
	From     string `json:"from,omitempty" jsonschema:"description=The old path of a file that was renamed or copied."`
	Index    string `json:"index" jsonschema:"description=What is staged: a letter of git status\\, or a point."`
	Worktree string `json:"worktree" jsonschema:"description=What is not staged: a letter of git status\\, or a point. Both are ? for a new file."`
}

type gitStatusJSON struct {
	Branch   string        `json:"branch,omitempty" jsonschema:"description=There is none where a commit is checked out."`
	Commit   string        `json:"commit,omitempty"`
	Upstream string        `json:"upstream,omitempty"`
	Ahead    int           `json:"ahead" jsonschema:"description=Commits that the upstream lacks."`
	Behind   int           `json:"behind" jsonschema:"description=Commits of the upstream that the branch lacks."`
	Files    []gitFileJSON `json:"files" jsonschema:"description=The files that differ from the last commit."`
	More     int           `json:"more,omitempty" jsonschema:"description=How many more files differ."`
}

type gitDiffJSON struct {
	Diff    string `json:"diff"`
	Missing int    `json:"missing,omitempty" jsonschema:"description=How many bytes are left out at the end. Name a path to see them."`
}

type gitEntryJSON struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"`
	Time    string `json:"time" jsonschema:"format=date-time"`
	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
}

type gitLogJSON struct {
	Commits []gitEntryJSON `json:"commits"`
}

type gitBranchJSON struct {
	Name    string `json:"name"`
	Commit  string `json:"commit"`
	Remote  bool   `json:"remote,omitempty"`
	Current bool   `json:"current,omitempty"`
}

type gitBranchesJSON struct {
	Branches []gitBranchJSON `json:"branches"`
}

type gitCommitJSON struct {
	Commit string `json:"commit"`
}

// repository returns the Git of a call, whose commands are reported.
func (k *kit) repository(ctx context.Context, c toolCall) *git.Git {
	mw := observe.From(ctx, k.Secrets.Set()).Middleware(func(call codeinterp.Call) observe.Event {
		return observe.Event{CallID: c.ID, Tool: c.Tool, Op: codeinterp.OpCommand, Code: call.Code}
	})
	return k.git.With(mw).In(c.dir)
}

// gitDone is the answer to a call, done if it has not failed.
func (k *kit) gitDone(ctx context.Context, c toolCall, done any, err error) *Answer {
	if err != nil {
		return k.failed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, done)
}

// gitText is what a model gets of a text in a repository.
func (k *kit) gitText(s string, most int) string {
	return shorten.Head(k.Secrets.Scrub(plaintext.Clean(s)), most)
}

func (k *kit) gitClone(ctx context.Context, c toolCall) *Answer {
	if u, err := url.Parse(c.path); err == nil {
		c.dir = cmp.Or(c.dir, strings.TrimSuffix(path.Base(u.Path), ".git"))
	}
	err := k.repository(ctx, c).Clone(ctx, c.path, &git.CloneOptions{Branch: c.branch})
	return k.gitDone(ctx, c, clonedJSON{k.gitText(c.dir, maxGitBody)}, err)
}

func (k *kit) gitStatus(ctx context.Context, c toolCall) *Answer {
	s, err := k.repository(ctx, c).Status(ctx)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	j := gitStatusJSON{Branch: k.gitText(s.Branch, maxGitBody), Commit: s.Commit, Upstream: k.gitText(s.Upstream, maxGitBody), Ahead: s.Ahead, Behind: s.Behind,
		Files: []gitFileJSON{}, More: max(len(s.Files)-maxGitFiles, 0)}
	for _, f := range s.Files[:len(s.Files)-j.More] {
		j.Files = append(j.Files, gitFileJSON{k.Secrets.Scrub(f.Path), k.Secrets.Scrub(f.From), string(rune(f.Index)), string(rune(f.Worktree))})
	}
	return answer(c.ID, c.Tool, j)
}

// paths returns the path of a call, if it has one.
func (c toolCall) paths() []string {
	if c.path == "" {
		return nil
	}
	return []string{c.path}
}

func (k *kit) gitDiff(ctx context.Context, c toolCall) *Answer {
	diff, err := k.repository(ctx, c).Diff(ctx, &git.DiffOptions{Staged: c.staged, From: c.from, To: c.to, Paths: c.paths()})
	if err != nil {
		return k.failed(ctx, c, err)
	}
	all := k.Secrets.Scrub(plaintext.Clean(diff))
	j := gitDiffJSON{Diff: strings.ToValidUTF8(all[:min(len(all), k.MaxText)], "")}
	j.Missing = max(len(all)-k.MaxText, 0)
	r := answer(c.ID, c.Tool, j)
	if r.Text = cmp.Or(j.Diff, "[no changes]"); j.Missing > 0 {
		r.Text += "\n[" + bytesOf(int64(j.Missing)) + " more; name a path to see them]"
	}
	return r
}

func (k *kit) gitLog(ctx context.Context, c toolCall) *Answer {
	list, err := k.repository(ctx, c).Log(ctx, &git.LogOptions{From: c.from, Max: int(cmp.Or(c.lines, defaultLog)), Paths: c.paths()})
	if err != nil {
		return k.failed(ctx, c, err)
	}
	j := gitLogJSON{[]gitEntryJSON{}}
	for _, e := range list {
		j.Commits = append(j.Commits, gitEntryJSON{e.Hash, k.gitText(e.Author+" <"+e.Email+">", maxGitBody), e.Time.Format(time.RFC3339), k.gitText(e.Subject, maxGitBody), k.gitText(e.Body, maxGitBody)})
	}
	return answer(c.ID, c.Tool, j)
}

func (k *kit) gitBranches(ctx context.Context, c toolCall) *Answer {
	list, err := k.repository(ctx, c).Branches(ctx)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	j := gitBranchesJSON{[]gitBranchJSON{}}
	for _, b := range list {
		j.Branches = append(j.Branches, gitBranchJSON{k.gitText(b.Name, maxGitBody), b.Commit, b.Remote, b.Current})
	}
	return answer(c.ID, c.Tool, j)
}

func (k *kit) gitCheckout(ctx context.Context, c toolCall) *Answer {
	return k.gitDone(ctx, c, okJSON{true}, k.repository(ctx, c).Checkout(ctx, c.branch, c.create))
}

func (k *kit) gitCommit(ctx context.Context, c toolCall) *Answer {
	g := k.repository(ctx, c)
	if err := g.Add(ctx, c.paths()...); err != nil {
		return k.failed(ctx, c, err)
	}
	hash, err := g.Commit(ctx, c.message)
	return k.gitDone(ctx, c, gitCommitJSON{hash}, err)
}

func (k *kit) gitPush(ctx context.Context, c toolCall) *Answer {
	return k.gitDone(ctx, c, okJSON{true}, k.repository(ctx, c).Push(ctx))
}

func (k *kit) gitPull(ctx context.Context, c toolCall) *Answer {
	return k.gitDone(ctx, c, okJSON{true}, k.repository(ctx, c).Pull(ctx))
}

// gitFact says where credentials come from.
func gitFact(k *kit) string {
	if k.git == nil {
		return ""
	}
	switch way, _, _ := strings.Cut(k.git.Describe(), ":"); way {
	case "none":
		return "There are no credentials: only public repositories can be reached."
	default:
		return ""
	}
}

package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/git"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// ForGit returns the tools for repositories in a workspace, in a fixed order. opts may be
// nil. Each command of git is reported like a command of the shell.
func ForGit(workspace string, g *git.Git, opts *Options) ([]Tool, error) {
	return (&kit{git: g}).toolsFor(workspace, g.Info(), opts)
}

const (
	maxGitFiles  = 500     // of a status
	maxGitLog    = 200     // commits
	defaultLog   = 20      //
	maxGitText   = 2 << 10 // such as a commit's body
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

type gitStatusJSON struct {
	git.Status
	More int `json:"more,omitempty" jsonschema:"description=How many more files differ."`
}

type gitDiffJSON struct {
	Diff    string `json:"diff" jsonschema:"description=It has no files that git does not track: see the status."`
	Missing int    `json:"missing,omitempty" jsonschema:"description=How many bytes are left out at the end. Name a path to see them."`
}

type gitLogJSON struct {
	Commits []git.Commit `json:"commits"`
}

type gitBranchesJSON struct {
	Branches []git.Branch `json:"branches"`
}

type gitCommitJSON struct {
	Commit string `json:"commit"`
}

// ofGit returns the row of a tool that answers with what do makes of the repository which a
// call names. Each command of git is reported.
func ofGit(name string, hints func(codeinterp.Isolation) Annotations, output func() json.RawMessage, do func(*kit, context.Context, *git.Git, toolCall) (any, error), args ...argument) operation {
	serve := func(k *kit, ctx context.Context, c toolCall) *Answer {
		mw := observe.From(ctx, k.Secrets.Set()).Middleware(func(call codeinterp.Call) observe.Event {
			return observe.Event{CallID: c.ID, Tool: c.Tool, Op: codeinterp.OpCommand, Code: call.Code}
		})
		done, err := do(k, ctx, k.git.With(mw).In(c.dir), c)
		if err != nil {
			return k.failed(ctx, c, err)
		}
		r := answer(c.ID, c.Tool, done)
		if text, ok := done.(fmt.Stringer); ok {
			r.Text = text.String()
		}
		return r
	}
	return operation{name: name, op: codeinterp.OpCommand, args: args, needs: hasGit, hints: hints, output: output, serve: serve}
}

// gitTexts makes texts in a repository what a model gets of them.
func (k *kit) gitTexts(texts ...*string) {
	for _, t := range texts {
		*t = shorten.Head(k.Secrets.Scrub(plaintext.Clean(*t)), maxGitText)
	}
}

func (k *kit) gitClone(ctx context.Context, g *git.Git, c toolCall) (any, error) {
	if u, err := url.Parse(c.path); err == nil {
		c.dir = cmp.Or(c.dir, strings.TrimSuffix(path.Base(u.Path), ".git"))
	}
	err := g.In(c.dir).Clone(ctx, c.path, &git.CloneOptions{Branch: c.branch})
	k.gitTexts(&c.dir)
	return clonedJSON{c.dir}, err
}

func (k *kit) gitStatus(ctx context.Context, g *git.Git, _ toolCall) (any, error) {
	s, err := g.Status(ctx)
	if err != nil {
		return nil, err
	}
	k.gitTexts(&s.Branch, &s.Upstream)
	j := gitStatusJSON{*s, max(len(s.Files)-maxGitFiles, 0)}
	j.Files = s.Files[:len(s.Files)-j.More]
	for i, f := range j.Files {
		j.Files[i].Path, j.Files[i].From = k.Secrets.Scrub(f.Path), k.Secrets.Scrub(f.From)
	}
	return j, nil
}

// paths returns the path of a call, if it has one.
func (c toolCall) paths() []string {
	if c.path == "" {
		return nil
	}
	return []string{c.path}
}

func (k *kit) gitDiff(ctx context.Context, g *git.Git, c toolCall) (any, error) {
	diff, err := g.Diff(ctx, &git.DiffOptions{Staged: c.staged, From: c.from, To: c.to, Paths: c.paths()})
	if err != nil {
		return nil, err
	}
	all := k.Secrets.Scrub(plaintext.Clean(diff))
	j := gitDiffJSON{Diff: strings.ToValidUTF8(all[:min(len(all), k.MaxText)], ""), Missing: max(len(all)-k.MaxText, 0)}
	return j, nil
}

// String is what a model reads.
func (j gitDiffJSON) String() string {
	if j.Missing > 0 {
		return j.Diff + "\n[" + bytesOf(int64(j.Missing)) + " more; name a path to see them]"
	}
	return cmp.Or(j.Diff, "[no changes in the files that git tracks; the status has the others]")
}

func (k *kit) gitLog(ctx context.Context, g *git.Git, c toolCall) (any, error) {
	list, err := g.Log(ctx, &git.LogOptions{From: c.from, Max: int(cmp.Or(c.lines, defaultLog)), Paths: c.paths()})
	for i := range list {
		e := &list[i]
		k.gitTexts(&e.Author, &e.Email, &e.Subject, &e.Body)
	}
	return gitLogJSON{list}, err
}

func (k *kit) gitBranches(ctx context.Context, g *git.Git, _ toolCall) (any, error) {
	list, err := g.Branches(ctx)
	for i := range list {
		k.gitTexts(&list[i].Name)
	}
	return gitBranchesJSON{list}, err
}

func (k *kit) gitCheckout(ctx context.Context, g *git.Git, c toolCall) (any, error) {
	return okJSON{true}, g.Checkout(ctx, c.branch, c.create)
}

func (k *kit) gitCommit(ctx context.Context, g *git.Git, c toolCall) (any, error) {
	if err := g.Add(ctx, c.paths()...); err != nil {
		return nil, err
	}
	hash, err := g.Commit(ctx, c.message)
	return gitCommitJSON{hash}, err
}

func (k *kit) gitPush(ctx context.Context, g *git.Git, _ toolCall) (any, error) {
	return okJSON{true}, g.Push(ctx)
}

func (k *kit) gitPull(ctx context.Context, g *git.Git, _ toolCall) (any, error) {
	return okJSON{true}, g.Pull(ctx)
}

// gitFact says where credentials come from.
func gitFact(k *kit) string {
	if k.git != nil && k.git.Describe() == "none" {
		return "There are no credentials: only public repositories can be reached."
	}
	return ""
}

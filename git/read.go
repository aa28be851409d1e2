package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// DiffOptions tunes Diff. The zero value compares the work tree with the index.
type DiffOptions struct {
	Staged bool     // compare the index with the last commit
	From   string   // a commit to compare with, in place of the index
	To     string   // a commit to compare, in place of the work tree
	Paths  []string // only these
}

// Diff returns changes as a unified diff. Files that git does not track are in none: a Status
// has them.
func (g *Git) Diff(ctx context.Context, opts *DiffOptions) (string, error) {
	o := cmp.Or(opts, &DiffOptions{})
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"}
	if o.Staged {
		args = append(args, "--cached")
	}
	revisions, err := names(o.From, o.To)
	if err != nil {
		return "", err
	}
	return g.git(ctx, slices.Concat(args, revisions, []string{"--"}, o.Paths)...)
}

// A Commit is one of the history.
type Commit struct {
	Hash    string    `json:"commit"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
	Body    string    `json:"body,omitempty"`
}

// LogOptions tunes Log.
type LogOptions struct {
	From  string   // where to begin; empty means the branch
	Max   int      // how many; zero means 50
	Paths []string // only commits that change these
}

// Log returns commits, the newest first.
func (g *Git) Log(ctx context.Context, opts *LogOptions) ([]Commit, error) {
	o := cmp.Or(opts, &LogOptions{})
	args := []string{"log", "-z", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--format=%H%x01%an%x01%ae%x01%aI%x01%s%x01%b", "-n", strconv.Itoa(cmp.Or(max(o.Max, 0), 50))}
	from, err := names(o.From)
	if err != nil {
		return nil, err
	}
	out, err := g.git(ctx, slices.Concat(args, from, []string{"--"}, o.Paths)...)
	if err != nil {
		return nil, err
	}
	return parseLog(out)
}

func parseLog(out string) ([]Commit, error) {
	list := []Commit{}
	found, err := records("log", out, "\x00", 6)
	for _, f := range found {
		when, err := time.Parse(time.RFC3339, f[3])
		if err != nil {
			return nil, fmt.Errorf("git log: %w: a time %.40q", ErrGit, f[3])
		}
		list = append(list, Commit{Hash: f[0], Author: f[1], Email: f[2], Time: when, Subject: f[4], Body: strings.TrimSpace(f[5])})
	}
	return list, err
}

// records returns the records of an operation's answer, which end with a text and have so
// many fields.
func records(op, out, end string, fields int) (list [][]string, err error) {
	for record := range strings.SplitSeq(strings.TrimSuffix(out, end), end) {
		f := strings.SplitN(record, "\x01", fields)
		if len(f) == fields {
			list = append(list, f)
		} else if record != "" {
			return nil, fmt.Errorf("git %s: %w: a record %.40q", op, ErrGit, record)
		}
	}
	return list, nil
}

// A Branch is a local or a remote one.
type Branch struct {
	Name    string `json:"name"` // such as "main" or "origin/main"
	Commit  string `json:"commit"`
	Remote  bool   `json:"remote,omitempty"`
	Current bool   `json:"current,omitempty"`
}

// MaxBranches is how many branches Branches returns.
const MaxBranches = 1000

// Branches returns the branches, those with the newest commits first, up to MaxBranches.
func (g *Git) Branches(ctx context.Context) ([]Branch, error) {
	out, err := g.git(ctx, "for-each-ref", "--sort=-committerdate", "--count="+strconv.Itoa(MaxBranches),
		"--format=%(refname)%01%(objectname)%01%(HEAD)", "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	list := []Branch{}
	found, err := records("branches", out, "\n", 3)
	for _, f := range found {
		name, local := strings.CutPrefix(f[0], "refs/heads/")
		list = append(list, Branch{Name: strings.TrimPrefix(name, "refs/remotes/"), Commit: f[1], Remote: !local, Current: f[2] == "*"})
	}
	return list, err
}

// names returns those that are not empty. It refuses what git would take for an option or
// for several words.
func names(list ...string) (given []string, err error) {
	for _, s := range list {
		if strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\x00\n") {
			return nil, fmt.Errorf("git: %w: the name %.100q", codeinterp.ErrInvalid, s)
		}
		if s != "" {
			given = append(given, s)
		}
	}
	return given, nil
}

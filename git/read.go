package git

import (
	"context"
	"fmt"
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
	Stat   bool     // a summary by file in place of the changes
}

// Diff returns changes as a unified diff.
func (g *Git) Diff(ctx context.Context, opts *DiffOptions) (string, error) {
	var o DiffOptions
	if opts != nil {
		o = *opts
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"}
	if o.Staged {
		args = append(args, "--cached")
	}
	if o.Stat {
		args = append(args, "--stat=200")
	}
	for _, r := range []string{o.From, o.To} {
		if r == "" {
			continue
		}
		if err := checkName(r); err != nil {
			return "", err
		}
		args = append(args, r)
	}
	return g.git(ctx, append(append(args, "--"), o.Paths...)...)
}

// A Commit is one of the history.
type Commit struct {
	Hash          string
	Author, Email string
	Time          time.Time
	Subject       string
	Body          string
}

// LogOptions tunes Log.
type LogOptions struct {
	From  string   // where to begin; empty means the branch
	Max   int      // how many; zero means 50
	Paths []string // only commits that change these
}

// Log returns commits, the newest first.
func (g *Git) Log(ctx context.Context, opts *LogOptions) ([]Commit, error) {
	var o LogOptions
	if opts != nil {
		o = *opts
	}
	if o.Max <= 0 {
		o.Max = 50
	}
	args := []string{"log", "-z", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--format=%H%x01%an%x01%ae%x01%aI%x01%s%x01%b", "-n", strconv.Itoa(o.Max)}
	if o.From != "" {
		if err := checkName(o.From); err != nil {
			return nil, err
		}
		args = append(args, o.From)
	}
	out, err := g.git(ctx, append(append(args, "--"), o.Paths...)...)
	if err != nil {
		return nil, err
	}
	return parseLog(out)
}

func parseLog(out string) ([]Commit, error) {
	var list []Commit
	for record := range strings.SplitSeq(out, "\x00") {
		if record == "" {
			continue
		}
		f := strings.SplitN(record, "\x01", 6)
		if len(f) != 6 {
			return nil, fmt.Errorf("git log: %w: a record %.40q", ErrGit, record)
		}
		when, err := time.Parse(time.RFC3339, f[3])
		if err != nil {
			return nil, fmt.Errorf("git log: %w: a time %.40q", ErrGit, f[3])
		}
		list = append(list, Commit{Hash: f[0], Author: f[1], Email: f[2], Time: when, Subject: f[4], Body: strings.TrimSpace(f[5])})
	}
	return list, nil
}

// A Branch is a local or a remote one.
type Branch struct {
	Name    string // such as "main" or "origin/main"
	Commit  string
	Remote  bool
	Current bool
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
	var list []Branch
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x01")
		if len(f) != 3 {
			return nil, fmt.Errorf("git branches: %w: a record %.40q", ErrGit, line)
		}
		name, local := strings.CutPrefix(f[0], "refs/heads/")
		list = append(list, Branch{Name: strings.TrimPrefix(name, "refs/remotes/"), Commit: f[1], Remote: !local, Current: f[2] == "*"})
	}
	return list, nil
}

// checkName refuses what git would take for an option or for several words.
func checkName(s string) error {
	if s == "" || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\x00\n") {
		return fmt.Errorf("git: %w: the name %.100q", codeinterp.ErrInvalid, s)
	}
	return nil
}

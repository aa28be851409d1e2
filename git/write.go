package git

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// CloneOptions tunes Clone.
type CloneOptions struct {
	Branch string // empty means the remote's own
	Depth  int    // how many commits of history; zero means all
}

// Clone clones a repository into Dir, which must be empty or missing.
func (g *Git) Clone(ctx context.Context, repository string, opts *CloneOptions) error {
	u, err := url.Parse(repository)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return fmt.Errorf("git clone: %w: a repository is an http or https URL without a user; see Options.Credential", codeinterp.ErrInvalid)
	}
	args := []string{"clone", "--no-recurse-submodules", "--quiet", "--no-hardlinks"}
	o := cmp.Or(opts, &CloneOptions{})
	branch, err := names(o.Branch)
	if err != nil {
		return err
	}
	if branch != nil {
		args = append(args, "--branch", o.Branch)
	}
	if o.Depth > 0 {
		args = append(args, "--depth", strconv.Itoa(o.Depth))
	}
	_, err = g.In("").command(ctx, nil, append(args, "--", repository, cmp.Or(g.o.Dir, "."))...)
	return err
}

// Checkout changes to a branch or a commit. With create, the branch is new and begins
// at the current commit.
func (g *Git) Checkout(ctx context.Context, name string, create bool) error {
	if _, err := names(name); err != nil || name == "" {
		return cmp.Or(err, fmt.Errorf("git: %w: an empty name", codeinterp.ErrInvalid))
	}
	args := []string{"checkout", "--quiet", "--no-recurse-submodules"}
	if create {
		args = append(args, "-b")
	}
	_, err := g.git(ctx, append(args, name, "--")...)
	return err
}

// Add puts files, as they are now, into the index; none means all changes. Submodules that
// are in the index stay as they are there.
func (g *Git) Add(ctx context.Context, paths ...string) error {
	args := []string{"add"}
	if len(paths) == 0 {
		args = append(args, "--all")
	}
	paths, err := g.nested(ctx, ":/", paths)
	if err != nil {
		return err
	}
	_, err = g.git(ctx, append(append(args, "--"), paths...)...)
	return err
}

// Commit commits the index, and returns the new commit's hash.
func (g *Git) Commit(ctx context.Context, message string) (string, error) {
	if strings.TrimSpace(message) == "" {
		return "", fmt.Errorf("git commit: %w: an empty message", codeinterp.ErrInvalid)
	}
	// With nothing to commit it would look for changes in submodules, by their configuration.
	if _, err := g.git(ctx, "diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"); err == nil {
		if _, err := g.command(ctx, nil, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"); err != nil {
			return "", &failure{op: "commit", code: 1, text: "nothing to commit"}
		}
	}
	if _, err := g.git(ctx, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message="+message); err != nil {
		return "", err
	}
	out, err := g.git(ctx, "rev-parse", "HEAD")
	return strings.TrimSpace(out), err
}

// Push pushes the current branch to the branch of its name at the remote origin.
func (g *Git) Push(ctx context.Context) error {
	_, err := g.git(ctx, "push", "--quiet", "--no-verify", "--no-recurse-submodules", "--set-upstream", "origin", "HEAD")
	return err
}

// Pull fetches the current branch's upstream and moves the branch to it, if that needs
// no merge.
func (g *Git) Pull(ctx context.Context) error {
	_, err := g.git(ctx, "pull", "--quiet", "--ff-only", "--no-recurse-submodules")
	return err
}

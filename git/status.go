package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Status is what the work tree differs in from the last commit.
type Status struct {
	Branch   string // empty if detached
	Commit   string // empty before the first one
	Upstream string // such as "origin/main", empty without
	Ahead    int    // commits that the upstream lacks
	Behind   int    // commits of the upstream that the branch lacks
	Files    []File // those that differ, in git's order
}

// A File is one path of a Status.
type File struct {
	Path string
	From string // the old path of a rename or copy

	// Index and Worktree are git's letters for what changed between the commit and
	// the index, and between the index and the file: '.', 'M', 'T', 'A', 'D', 'R', 'C',
	// 'U'; both are '?' for a file that is not tracked.
	Index, Worktree byte
}

// Clean reports whether no file differs.
func (s *Status) Clean() bool { return len(s.Files) == 0 }

// Status returns the state of the work tree.
func (g *Git) Status(ctx context.Context) (*Status, error) {
	out, err := g.git(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	return parseStatus(out)
}

// parseStatus reads porcelain version 2 with -z (git-status, "Porcelain Format Version 2").
func parseStatus(out string) (*Status, error) {
	s := &Status{}
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		r := records[i]
		if r == "" {
			continue
		}
		kind, rest, _ := strings.Cut(r, " ")
		f := File{}
		fields := 0
		switch kind {
		case "#":
			s.header(rest)
			continue
		case "?":
			s.Files = append(s.Files, File{Path: rest, Index: '?', Worktree: '?'})
			continue
		case "!":
			continue
		case "1":
			fields = 7
		case "2":
			fields = 8
			if i++; i < len(records) {
				f.From = records[i]
			}
		case "u":
			fields = 9
		default:
			return nil, fmt.Errorf("git status: %w: a record %.40q", ErrGit, r)
		}
		parts := strings.SplitN(rest, " ", fields+1)
		if len(parts) != fields+1 || len(parts[0]) != 2 {
			return nil, fmt.Errorf("git status: %w: a record %.40q", ErrGit, r)
		}
		f.Index, f.Worktree, f.Path = parts[0][0], parts[0][1], parts[fields]
		s.Files = append(s.Files, f)
	}
	return s, nil
}

func (s *Status) header(line string) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value
		}
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
	}
}

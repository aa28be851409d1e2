package git

import (
	"context"
	"fmt"
	"strings"
)

// A Status is what the work tree differs in from the last commit.
type Status struct {
	Branch   string `json:"branch,omitempty" jsonschema:"description=There is none where a commit is checked out."`
	Commit   string `json:"commit,omitempty"`   // empty before the first one
	Upstream string `json:"upstream,omitempty"` // such as "origin/main"
	Ahead    int    `json:"ahead" jsonschema:"description=Commits that the upstream lacks."`
	Behind   int    `json:"behind" jsonschema:"description=Commits of the upstream that the branch lacks."`
	Files    []File `json:"files" jsonschema:"description=The files that differ from the last commit."` // in git's order
}

// A File is one path of a Status.
type File struct {
	Path string `json:"path"`
	From string `json:"from,omitempty" jsonschema:"description=The old path of a file that was renamed or copied."`

	// Index and Worktree are git's letters for what changed between the commit and
	// the index, and between the index and the file: ".", "M", "T", "A", "D", "R", "C",
	// "U"; both are "?" for a file that is not tracked.
	Index    string `json:"index" jsonschema:"description=What is staged: a letter of git status\\, or a point."`
	Worktree string `json:"worktree" jsonschema:"description=What is not staged: a letter of git status\\, or a point. Both are ? for a new file."`
}

// Status returns the state of the work tree.
func (g *Git) Status(ctx context.Context) (*Status, error) {
	out, err := g.git(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	return parseStatus(out)
}

// changed are the kinds of records about files that are tracked, with the number of fields
// before the path.
var changed = map[string]int{"1": 7, "2": 8, "u": 9}

// parseStatus reads porcelain version 2 with -z (git-status, "Porcelain Format Version 2").
func parseStatus(out string) (*Status, error) {
	s := &Status{Files: []File{}}
	records := strings.Split(out, "\x00")
	for i := 0; i < len(records); i++ {
		kind, rest, _ := strings.Cut(records[i], " ")
		switch kind {
		case "", "!":
			continue
		case "#":
			s.header(rest)
			continue
		case "?":
			s.Files = append(s.Files, File{Path: rest, Index: "?", Worktree: "?"})
			continue
		}
		fields, known := changed[kind]
		parts := strings.SplitN(rest, " ", fields+1)
		if !known || len(parts) != fields+1 || len(parts[0]) != 2 {
			return nil, fmt.Errorf("git status: %w: a record %.40q", ErrGit, records[i])
		}
		f := File{Path: parts[fields], Index: parts[0][:1], Worktree: parts[0][1:]}
		if kind == "2" && i+1 < len(records) {
			i++
			f.From = records[i]
		}
		s.Files = append(s.Files, f)
	}
	return s, nil
}

func (s *Status) header(line string) {
	switch name, value, _ := strings.Cut(line, " "); {
	case name == "branch.oid" && value != "(initial)":
		s.Commit = value
	case name == "branch.head" && value != "(detached)":
		s.Branch = value
	case name == "branch.upstream":
		s.Upstream = value
	case name == "branch.ab":
		_, _ = fmt.Sscanf(value, "+%d -%d", &s.Ahead, &s.Behind)
	}
}

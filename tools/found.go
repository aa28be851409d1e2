package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
)

type filesJSON struct {
	Entries  []entryJSON `json:"entries" jsonschema:"description=What was found."`
	More     string      `json:"more,omitempty" jsonschema:"description=Why there may be more: entries where there are too many\\, time where it took too long\\, text where the answer would be too long."`
	Skipped  []skipJSON  `json:"skipped,omitempty" jsonschema:"description=What was left out."`
	OutputID string      `json:"outputId,omitempty" jsonschema:"description=Names all that was found\\, where the answer has a part of it."`
}

type entryJSON struct {
	Path    string `json:"path"`
	Escaped bool   `json:"escaped,omitempty" jsonschema:"description=The path has bytes that are no text; they are written with backslashes."`
	Type    string `json:"type" jsonschema:"enum=file,enum=directory,enum=link,enum=special"`
	Size    int64  `json:"size,omitempty" jsonschema:"description=The size of a file in bytes."`
}

type matchesJSON struct {
	Matches  []matchJSON `json:"matches" jsonschema:"description=The lines that match."`
	Files    int         `json:"files" jsonschema:"description=How many files were searched."`
	More     string      `json:"more,omitempty" jsonschema:"description=Why there may be more: entries where there are too many\\, time where it took too long\\, text where the answer would be too long."`
	Skipped  []skipJSON  `json:"skipped,omitempty" jsonschema:"description=What was not\\, or not wholly\\, searched."`
	OutputID string      `json:"outputId,omitempty" jsonschema:"description=Names all that was found\\, where the answer has a part of it."`
}

type matchJSON struct {
	Path string `json:"path"`
	Line int64  `json:"line"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty" jsonschema:"description=There is more of the line."`
}

type skipJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// listing is a result of several lines, of which as many are answered as fit.
type listing struct {
	lines   []string
	more    string
	skipped []skipJSON
}

// moreText is the value of More if the answer would be too long.
const moreText = "text"

// text returns the lines that fit, how many they are, and the id of all of them
// if some do not.
func (k *kit) text(ctx context.Context, f *listing) (text string, n int, id string) {
	var b strings.Builder
	for _, line := range f.lines {
		if b.Len()+len(line)+1 > k.MaxText {
			break
		}
		b.WriteString(line + "\n")
		n++
	}
	if n < len(f.lines) {
		all := &codeinterp.Result{Status: codeinterp.StatusOK, Outputs: []codeinterp.Output{
			{Kind: codeinterp.Stdout, Data: []byte(strings.Join(f.lines, "\n") + "\n")},
		}}
		f.more = moreText
		id = k.Outputs.put(ctx, k.NewID(), all, k.Secrets.Set())
	}
	switch {
	case len(f.lines) == 0:
		b.WriteString("[nothing found]\n")
	case id != "" && k.ReadOutput:
		fmt.Fprintf(&b, "[%d more; %s with outputId %q has all of it]\n", len(f.lines)-n, k.name(opReadOutput), id)
	case n < len(f.lines):
		fmt.Fprintf(&b, "[%d more; ask for less]\n", len(f.lines)-n)
	}
	switch f.more {
	case "entries":
		b.WriteString("[there are more; ask for less, or for a larger limit]\n")
	case "time":
		b.WriteString("[there may be more: it took too long; ask for less]\n")
	}
	for i, s := range f.skipped {
		if i == maxNotes {
			fmt.Fprintf(&b, "[%d more skipped]\n", len(f.skipped)-i)
			break
		}
		fmt.Fprintf(&b, "[skipped %s: %s]\n", s.Path, s.Reason)
	}
	return strings.TrimSuffix(b.String(), "\n"), n, id
}

func (k *kit) skipped(list []files.Skip) (out []skipJSON) {
	for _, s := range list {
		out = append(out, skipJSON{k.Secrets.Scrub(s.Path), s.Reason})
	}
	return out
}

func (k *kit) listFiles(ctx context.Context, c toolCall) *Answer {
	l, err := k.files.List(ctx, c.path, &files.ListOptions{Depth: int(c.depth), Limit: int(cmp.Or(c.limit, defaultFound))})
	return k.listing(ctx, c, l, err)
}

func (k *kit) glob(ctx context.Context, c toolCall) *Answer {
	l, err := k.files.Glob(ctx, c.path, c.pattern, &files.GlobOptions{Limit: int(cmp.Or(c.limit, defaultFound))})
	return k.listing(ctx, c, l, err)
}

func (k *kit) listing(ctx context.Context, c toolCall, l files.Listing, err error) *Answer {
	if err != nil {
		return k.fileFailed(ctx, c, err)
	}
	f := listing{more: l.More, skipped: k.skipped(l.Unread)}
	j := filesJSON{Entries: make([]entryJSON, 0, len(l.Entries)), Skipped: f.skipped}
	for _, e := range l.Entries {
		entry := entryJSON{k.Secrets.Scrub(e.Path), e.Escaped, e.Type, e.Size}
		j.Entries = append(j.Entries, entry)
		f.lines = append(f.lines, entry.String())
	}
	text, n, id := k.text(ctx, &f)
	j.Entries, j.More, j.OutputID = j.Entries[:n], f.more, id
	r := answer(c.ID, c.Tool, j)
	r.Text, r.OutputID = text, id
	return r
}

func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// String is the entry's line.
func (e entryJSON) String() string {
	switch e.Type {
	case files.TypeFile:
		return fmt.Sprintf("%s (%s)", e.Path, bytesOf(e.Size))
	case files.TypeDir:
		return e.Path + "/"
	}
	return fmt.Sprintf("%s (%s)", e.Path, e.Type)
}

func (k *kit) grep(ctx context.Context, c toolCall) *Answer {
	m, err := k.files.Grep(ctx, c.path, c.pattern, &files.GrepOptions{
		Literal: c.literal, IgnoreCase: c.ignoreCase, Include: c.include, Limit: int(cmp.Or(c.limit, defaultFound)),
	})
	if err != nil {
		return k.fileFailed(ctx, c, err)
	}
	f := listing{more: m.More, skipped: k.skipped(m.Skipped)}
	j := matchesJSON{Matches: make([]matchJSON, 0, len(m.Matches)), Files: m.Files, Skipped: f.skipped}
	for _, x := range m.Matches {
		match := matchJSON{k.Secrets.Scrub(x.Path), x.Line, x.Text, x.Cut}
		j.Matches = append(j.Matches, match)
		f.lines = append(f.lines, fmt.Sprintf("%s:%d:%s", match.Path, match.Line, match.Text))
	}
	text, n, id := k.text(ctx, &f)
	j.Matches, j.More, j.OutputID = j.Matches[:n], f.more, id
	r := answer(c.ID, c.Tool, j)
	r.Text, r.OutputID = text, id
	return r
}

package tools

import (
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

const (
	// maxFiles is how many of a run's files are named in the text.
	maxFiles = 20

	// maxListed and maxPaths are how many are listed in the structured answer, and
	// how many bytes their paths have: what a program writes chooses both.
	maxListed = 200
	maxPaths  = 32 << 10
)

type artifactJSON struct {
	Path   string `json:"path"`
	MIME   string `json:"mime,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`

	Escaped bool `json:"escaped,omitempty" jsonschema:"description=The name is not UTF-8: path is it as in a string literal."`
}

// listArtifacts lists the first artifacts, and counts those that it leaves out.
func (w *resultJSON) listArtifacts(all []codeinterp.Artifact) {
	var bytes, kept, paths int64
	for i := range all {
		a := &all[i]
		bytes += a.Size
		if paths += int64(len(a.Path)); len(w.Artifacts) == maxListed || paths > maxPaths {
			continue // no later one is listed either, so that the list is the first of all
		}
		kept += a.Size
		w.Artifacts = append(w.Artifacts, artifactJSON{plaintext.Line(a.Path), plaintext.Line(a.MIME), a.Size, a.SHA256, a.Escaped})
	}
	left := len(all) - len(w.Artifacts)
	if left == 0 {
		return
	}
	for i := range w.Truncated {
		if t := &w.Truncated[i]; t.Stream == artifacts {
			t.Files, t.Kept = t.Files+left, min(t.Kept, kept)
			return
		}
	}
	w.Truncated = append(w.Truncated, truncatedJSON{
		Stream: artifacts, Bytes: &bytes, Kept: kept, Files: left, Reason: string(codeinterp.TruncatedByLimit)})
}

// artifacts is the Truncation.Stream of a run's files.
const artifacts = "artifacts"

// files names the files that the run created or changed.
func (v *view) files() []string {
	list := v.res.Artifacts
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("Files written: ")
	for i, a := range list[:min(len(list), maxFiles)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", plaintext.Line(shorten.Head(a.Path, 200)), bytesOf(a.Size))
	}
	more, atLeast := max(len(list)-maxFiles, 0), ""
	for _, t := range v.res.Truncated {
		if t.Stream == artifacts {
			more += t.Files
			if t.Bytes < 0 {
				atLeast = "at least "
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, " and %s%d more", atLeast, more)
	}
	return []string{b.String()}
}

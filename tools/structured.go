package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// resultJSON is what Answer.JSON holds of a run: the wire form of a Result, cut
// like the text and with binary data replaced by its size and by where the
// answer holds it. The output schema is made from it.
type resultJSON struct {
	Status         string          `json:"status" jsonschema:"enum=ok,enum=error,enum=timeout,enum=canceled,enum=lost,enum=not_run,description=How the program ended."`
	ExitCode       int             `json:"exitCode" jsonschema:"description=The program's exit code; 124 after a timeout\\, 130 after an interrupt\\, 137 where it was killed."`
	Outputs        []outputJSON    `json:"outputs" jsonschema:"description=What the program produced\\, in order."`
	Error          string          `json:"error,omitempty" jsonschema:"description=The error that the program did not handle\\, in one line."`
	ErrorDetail    *errorJSON      `json:"errorDetail,omitempty"`
	Cause          string          `json:"cause,omitempty" jsonschema:"description=Why the run ended\\, where it did not end by itself."`
	StateLost      bool            `json:"stateLost,omitempty" jsonschema:"description=The variables of earlier runs are gone."`
	ExecutionCount int             `json:"executionCount,omitempty"`
	DurationMs     int64           `json:"durationMs,omitempty"`
	Truncated      []truncatedJSON `json:"truncated,omitempty" jsonschema:"description=What the outputs lack."`
	Artifacts      []artifactJSON  `json:"artifacts,omitempty" jsonschema:"description=Files that the run created or changed."`
	Hint           string          `json:"hint,omitempty" jsonschema:"description=What to do about the error."`
	OutputID       string          `json:"outputId,omitempty" jsonschema:"description=Names the whole output\\, where some of it was left out here."`
}

type outputJSON struct {
	Type      string          `json:"type" jsonschema:"enum=stdout,enum=stderr,enum=display,enum=result"`
	MIME      string          `json:"mime,omitempty"`
	Text      *string         `json:"text,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Bytes     int             `json:"bytes,omitempty" jsonschema:"description=The size of binary data\\, which is not included."`
	Block     int             `json:"block,omitempty" jsonschema:"description=Which content block holds the image; block 0 is the text."`
	DisplayID string          `json:"displayId,omitempty"`
	Late      bool            `json:"late,omitempty" jsonschema:"description=It came after the end of an earlier run."`
}

type errorJSON struct {
	Name          string   `json:"name,omitempty"`
	Message       string   `json:"message,omitempty"`
	Traceback     []string `json:"traceback,omitempty"`
	Line          int      `json:"line,omitempty" jsonschema:"description=The line of the code where it happened."`
	MissingModule string   `json:"missingModule,omitempty" jsonschema:"description=The module that could not be imported."`
}

type truncatedJSON struct {
	Stream string `json:"stream"`
	Bytes  *int64 `json:"bytes,omitempty"`
	Kept   int64  `json:"kept"`
	Files  int    `json:"files,omitempty" jsonschema:"description=How many files artifacts lacks."`
	Reason string `json:"reason" jsonschema:"enum=limit,enum=rate,enum=connection,enum=exit,enum=overwritten"`
}

// maxLine is how long the parts of an error that stand in one line may be.
const maxLine = 2 << 10

// json renders the view.
func (v *view) json(hint, outputID string) json.RawMessage {
	r := v.res
	w := resultJSON{
		Status: string(r.Status), ExitCode: r.ExitCode, Outputs: make([]outputJSON, 0, len(v.pieces)),
		Cause: string(r.Cause), StateLost: r.StateLost, ExecutionCount: r.ExecutionCount,
		DurationMs: r.Duration.Milliseconds(), Truncated: v.truncated(), Hint: hint, OutputID: outputID,
	}
	for i := range v.pieces {
		w.Outputs = append(w.Outputs, v.pieces[i].json())
	}
	if e := r.Error; e != nil {
		w.Error = v.line(e.Error())
		w.ErrorDetail = &errorJSON{
			Name: v.line(e.Name), Message: v.message(e.Message),
			Line: e.Line, MissingModule: v.line(e.MissingModule),
		}
		if t := strings.TrimRight(v.errs.body(), "\n"); t != w.Error && t != "" {
			w.ErrorDetail.Traceback = strings.Split(t, "\n")
		}
	}
	w.listArtifacts(r.Artifacts)
	return marshal(w)
}

// body returns what is kept, with the losses marked.
func (p *piece) body() string {
	var b strings.Builder
	mark := func(l loss) {
		if s := b.String(); l.bytes > 0 && s != "" && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
		l.write(&b)
	}
	mark(p.prior)
	b.Write(p.head)
	mark(p.lost)
	b.Write(p.tail)
	mark(p.after)
	return b.String()
}

// whole reports whether nothing of the piece's text is left out.
func (p *piece) whole() bool { return p.lost.bytes == 0 && p.prior.bytes == 0 && p.after.bytes == 0 }

// json renders one output. A value is left out where its text was cut.
func (p *piece) json() outputJSON {
	o := p.out
	w := outputJSON{Type: o.Kind.String(), DisplayID: plaintext.Line(o.DisplayID), Late: o.Late, MIME: plaintext.Line(p.mime)}
	if o.Kind == codeinterp.Value {
		if w.MIME == "text/plain" {
			w.MIME = ""
		}
		if len(o.Value) <= maxValue && p.whole() && json.Valid(o.Value) && utf8.Valid(o.Value) {
			w.Value = o.Value
		}
	}
	if len(p.head)+len(p.tail) > 0 || p.class != bundles {
		s := p.body()
		w.Text = &s
	}
	if rep, ok := pictureOf(o); ok {
		w.MIME, w.Bytes, w.Block = rep.MIME, len(rep.Data), p.image
	} else if w.Text == nil && len(o.Bundle) > 0 {
		w.MIME, w.Bytes = plaintext.Line(o.Bundle[0].MIME), len(o.Bundle[0].Data)
	}
	return w
}

// maxValue is the largest JSON value that stands beside its text.
const maxValue = 4 << 10

// classNames are the streams of truncatedJSON.
var classNames = [classes]string{"stdout", "stderr", "display", "error"}

// overwritten is the reason for frames of progress bars that are not shown.
const overwritten = "overwritten"

// truncated joins what the provider left out with what the view did.
func (v *view) truncated() []truncatedJSON {
	var list []truncatedJSON
	for _, t := range v.res.Truncated {
		j := truncatedJSON{Stream: t.Stream, Kept: t.Kept, Files: t.Files, Reason: string(t.Reason)}
		if t.Bytes >= 0 {
			j.Bytes = &t.Bytes
		}
		list = append(list, j)
	}
	for c, name := range classNames {
		if n := v.gone[c]; n > 0 {
			all := int64(v.size[c]) + n
			list = append(list, truncatedJSON{Stream: name, Bytes: &all, Kept: int64(v.kept[c]), Reason: overwritten})
		}
		if v.kept[c] >= v.size[c] {
			continue
		}
		found := false
		for i := range list {
			if list[i].Stream == name && list[i].Reason == string(codeinterp.TruncatedByLimit) {
				// The provider kept more; what counts is what the model sees.
				list[i].Kept, found = int64(v.kept[c]), true
			}
		}
		if !found {
			n := int64(v.size[c])
			list = append(list, truncatedJSON{Stream: name, Bytes: &n, Kept: int64(v.kept[c]), Reason: string(codeinterp.TruncatedByLimit)})
		}
	}
	return list
}

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

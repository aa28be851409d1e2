package notebook

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/lossnote"
)

// Record replaces the cell's outputs, count and times with those of res, the result of a
// run that has just ended.
func (c *Cell) Record(res *codeinterp.Result) {
	ended := time.Now()
	c.clear()
	c.ExecutionCount = res.ExecutionCount
	for i := range res.Outputs {
		c.add(&res.Outputs[i])
	}
	for _, n := range lossnote.Of(res.Truncated) {
		format := "some of %s may be missing (%s)"
		switch n.Reason {
		case codeinterp.TruncatedByLimit:
			format = "some of %s is missing (%s)"
		case codeinterp.TruncatedByExit:
			format = "the last of %s may be missing (%s)"
		}
		c.note(format, n.Streams, n.Reason)
	}
	if res.StateLost {
		c.note("the variables of earlier cells are gone")
	}
	if f, ok := failure(res); ok {
		c.Outputs = append(c.Outputs, f)
	}
	if res.Status != codeinterp.StatusNotRun {
		c.time(ended.Add(-res.Duration), ended)
	}
}

// clear removes the traces of a run.
func (c *Cell) clear() {
	c.Outputs, c.ExecutionCount = nil, 0
	if _, ok := c.Metadata["execution"]; ok {
		c.Metadata = maps.Clone(c.Metadata)
		delete(c.Metadata, "execution")
	}
}

func (c *Cell) add(o *codeinterp.Output) {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		c.write(o.Kind.String(), string(o.Data))
	case codeinterp.Display:
		c.Outputs = append(c.Outputs, Output{Type: Display, Data: bundle(o), Metadata: metadata(o)})
	case codeinterp.Value:
		c.Outputs = append(c.Outputs, Output{Type: Value, Data: bundle(o), Metadata: metadata(o), ExecutionCount: c.ExecutionCount})
	}
}

// write adds text to the end of a stream.
func (c *Cell) write(name, text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if n := len(c.Outputs); n > 0 && c.Outputs[n-1].Type == Stream && c.Outputs[n-1].Name == name {
		c.Outputs[n-1].Text += text
		return
	}
	c.Outputs = append(c.Outputs, Output{Type: Stream, Name: name, Text: text})
}

// note adds a line about the run to stderr.
func (c *Cell) note(format string, args ...any) {
	text := "toolcell: " + fmt.Sprintf(format, args...) + "\n"
	if n := len(c.Outputs); n > 0 && c.Outputs[n-1].Type == Stream && c.Outputs[n-1].Name == "stderr" && !strings.HasSuffix(c.Outputs[n-1].Text, "\n") {
		text = "\n" + text
	}
	c.write("stderr", text)
}

// bundle returns the output's data in the form of the format.
func bundle(o *codeinterp.Output) map[string]json.RawMessage {
	data := map[string]json.RawMessage{}
	for _, rep := range o.Bundle {
		mime := strings.ToValidUTF8(rep.MIME, "\uFFFD")
		switch {
		case asJSON(mime) && fits(rep.Data):
			data[mime] = rep.Data
		case codeinterp.IsText(mime) || codeinterp.IsJSON(mime) || !codeinterp.IsBinary(mime) && utf8.Valid(rep.Data):
			data[mime] = quote(string(rep.Data))
		default:
			data[mime] = quote(base64.StdEncoding.EncodeToString(rep.Data))
		}
	}
	if len(data) == 0 && fits(o.Value) {
		data["application/json"] = o.Value
	}
	return data
}

// outputLevels is how deep JSON in an output may nest, so that Decode takes the whole.
const outputLevels = MaxDepth - 6

// fits reports whether data is JSON that a notebook can contain.
func fits(data []byte) bool { return json.Valid(data) && bounded(data, outputLevels) == nil }

// metadata returns the output's metadata, nil if a notebook cannot contain it.
func metadata(o *codeinterp.Output) json.RawMessage {
	if !fits(o.Metadata) {
		return nil
	}
	return objectOrNil(o.Metadata)
}

func quote(text string) json.RawMessage {
	b, _ := json.Marshal(strings.ToValidUTF8(text, "\uFFFD")) // a string is always JSON
	return b
}

// failure returns the output of a cell that failed.
func failure(res *codeinterp.Result) (Output, bool) {
	f := Output{Type: Failure}
	if e := res.Error; e != nil {
		f.Error, f.Message, f.Traceback = e.Name, e.Message, e.Traceback
		if len(e.RawTraceback) > 0 {
			f.Traceback = e.RawTraceback
		}
	}
	switch res.Status {
	case codeinterp.StatusOK:
		return f, false
	case codeinterp.StatusTimeout:
		f.Error, f.Message = "Timeout", fmt.Sprintf("toolcell: the cell was stopped after %v", res.Duration.Round(time.Millisecond))
	case codeinterp.StatusCanceled:
		f.Error, f.Message = "Canceled", "toolcell: the cell was stopped"
	case codeinterp.StatusLost:
		f.Error, f.Message = "Lost", strings.TrimSuffix(fmt.Sprintf("toolcell: the end of the cell is unknown, or its process was lost (%s)", res.Cause), " ()")
	case codeinterp.StatusNotRun:
		f.Error, f.Message = "NotRun", "toolcell: the cell could not be run"
	default:
		if res.Error == nil {
			f.Error, f.Message = "Exit", fmt.Sprintf("toolcell: exit code %d", res.ExitCode)
		}
	}
	if len(f.Traceback) == 0 && f.Error != "" {
		f.Traceback = []string{f.Error + ": " + f.Message} // what front ends show
	}
	f.Error, f.Message = strings.ToValidUTF8(f.Error, "\uFFFD"), strings.ToValidUTF8(f.Message, "\uFFFD")
	f.Traceback = slices.Clone(f.Traceback)
	for i, line := range f.Traceback {
		f.Traceback[i] = strings.ToValidUTF8(line, "\uFFFD")
	}
	return f, true
}

// time records when the cell ran, under the names that front ends use.
func (c *Cell) time(began, ended time.Time) {
	const layout = "2006-01-02T15:04:05.000000Z"
	first, last := began.UTC().Format(layout), ended.UTC().Format(layout)
	b, _ := json.Marshal(map[string]string{
		"iopub.status.busy": first, "iopub.execute_input": first,
		"shell.execute_reply": last, "iopub.status.idle": last,
	})
	c.Metadata = maps.Clone(orEmpty(c.Metadata))
	c.Metadata["execution"] = b
}

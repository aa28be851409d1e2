package notebook

import (
	"encoding/json"
	"slices"
)

const (
	// MaxBytes is the size of the largest file that Decode takes.
	MaxBytes = 64 << 20
	// MaxCells is how many cells a notebook may have.
	MaxCells = 10_000
	// MaxDepth is how deep its lists and objects may nest, outputs and
	// metadata included.
	MaxDepth = 100

	maxValues = 4 << 20 // in the whole file
	maxParts  = 1 << 19 // see decoder
)

// A Notebook is a list of cells. The zero value is one without any.
type Notebook struct {
	Cells []Cell
	// Metadata has "kernelspec", "language_info" and whatever else there is.
	Metadata map[string]json.RawMessage
}

// A Type is what a cell holds.
type Type string

// The types of cells.
const (
	Code     Type = "code"
	Markdown Type = "markdown"
	Raw      Type = "raw"
)

// A Cell is one part of a notebook.
type Cell struct {
	// ID names the cell: 1 to 64 letters, digits, - and _. Encode gives one to
	// each cell that has none, or one that another cell has.
	ID       string
	Type     Type // empty means Code
	Source   string
	Metadata map[string]json.RawMessage

	// Attachments are files of a Markdown or Raw cell, as the format has them.
	Attachments json.RawMessage

	// Outputs and ExecutionCount are a Code cell's; 0 is for one that did not
	// run.
	Outputs        []Output
	ExecutionCount int
}

// An OutputType is what an output is.
type OutputType string

// The types of outputs.
const (
	Stream  OutputType = "stream"         // Name and Text
	Display OutputType = "display_data"   // Data and Metadata
	Value   OutputType = "execute_result" // the same, and ExecutionCount
	Failure OutputType = "error"          // Error, Message and Traceback
)

// An Output is something that a cell put out. Which fields are set depends on
// Type.
type Output struct {
	Type OutputType

	Name string // "stdout" or "stderr"
	Text string

	// Data is a MIME bundle: JSON as it is for application/json and
	// application/*+json, and for all others a string. That holds base64
	// where the type is known to be binary, see codeinterp.IsBinary, or the data
	// is no text.
	Data           map[string]json.RawMessage
	Metadata       json.RawMessage // an object, or nil
	ExecutionCount int

	Error     string // its name
	Message   string
	Traceback []string
}

// Tags returns the cell's tags.
func (c *Cell) Tags() []string {
	var tags []string
	if json.Unmarshal(c.Metadata["tags"], &tags) != nil {
		return nil
	}
	return tags
}

// has reports whether the cell has the tag.
func (c *Cell) has(tag string) bool { return slices.Contains(c.Tags(), tag) }

// Language returns what the notebook says that its code is written in, empty if
// it does not.
func (nb *Notebook) Language() string {
	var info struct{ Name, Language string }
	_ = json.Unmarshal(nb.Metadata["language_info"], &info)
	if info.Name == "" {
		_ = json.Unmarshal(nb.Metadata["kernelspec"], &info)
		return info.Language
	}
	return info.Name
}

// kernelspec returns the name of the kernelspec that the notebook was made with.
func (nb *Notebook) kernelspec() string {
	var spec struct{ Name string }
	_ = json.Unmarshal(nb.Metadata["kernelspec"], &spec)
	return spec.Name
}

package notebook

import (
	"encoding/json"
	"slices"
)

const (
	// MaxBytes is the size in bytes of the largest file that Decode accepts.
	MaxBytes = 64 << 20
	// MaxCells is the largest number of cells.
	MaxCells = 10_000
	// MaxDepth is how deep lists and objects may nest.
	MaxDepth = 100

	maxValues  = 4 << 20 // in the whole file
	maxOutputs = 100_000 // likewise
)

// A Notebook is a list of cells. The zero value is an empty notebook.
type Notebook struct {
	Cells []Cell
	// Metadata has "kernelspec", "language_info" and other members.
	Metadata map[string]json.RawMessage
}

// A Type is the type of a cell.
type Type string

// The types of cells.
const (
	Code     Type = "code"
	Markdown Type = "markdown"
	Raw      Type = "raw"
)

// A Cell is one part of a notebook.
type Cell struct {
	// ID identifies the cell: 1 to 64 letters, digits, - and _. Encode replaces
	// invalid and repeated ones.
	ID       string
	Type     Type // empty means Code
	Source   string
	Metadata map[string]json.RawMessage

	// Attachments are files of a Markdown or Raw cell, as JSON of the format.
	Attachments json.RawMessage

	// Outputs and ExecutionCount belong to a Code cell; the count is 0 if it
	// has not run.
	Outputs        []Output
	ExecutionCount int
}

// An OutputType is the type of an output.
type OutputType string

// The types of outputs.
const (
	Stream  OutputType = "stream"         // Name and Text
	Display OutputType = "display_data"   // Data and Metadata
	Value   OutputType = "execute_result" // the same, and ExecutionCount
	Failure OutputType = "error"          // Error, Message and Traceback
)

// An Output is an output of a cell. Type decides which fields are set.
type Output struct {
	Type OutputType

	Name string // "stdout" or "stderr"
	Text string

	// Data is a MIME bundle: JSON for application/json and application/*+json,
	// strings for other types. The string is base64 if the type is binary (see
	// codeinterp.IsBinary) or the data is not UTF-8.
	Data           map[string]json.RawMessage
	Metadata       json.RawMessage // an object, or nil
	ExecutionCount int

	Error     string // its name
	Message   string
	Traceback []string
}

// Tags returns the cell's tags.
func (c *Cell) Tags() (tags []string) {
	_ = json.Unmarshal(c.Metadata["tags"], &tags)
	return tags
}

// has reports whether the cell has the tag.
func (c *Cell) has(tag string) bool { return slices.Contains(c.Tags(), tag) }

// Language returns the language in the notebook's metadata, or an empty string.
func (nb *Notebook) Language() string {
	var info struct{ Name, Language string }
	_ = json.Unmarshal(nb.Metadata["language_info"], &info)
	if info.Name == "" {
		_ = json.Unmarshal(nb.Metadata["kernelspec"], &info)
		return info.Language
	}
	return info.Name
}

// kernelspec returns the name of the kernelspec in the metadata.
func (nb *Notebook) kernelspec() string {
	var spec struct{ Name string }
	_ = json.Unmarshal(nb.Metadata["kernelspec"], &spec)
	return spec.Name
}

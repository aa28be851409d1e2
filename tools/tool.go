package tools

import (
	"context"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
)

// A Tool is a definition for a model and a function that serves its calls. The tool
// type of any SDK can be filled from it, and a program's own tools can be in one [Set]
// with those of this package.
type Tool struct {
	// Name is what the model calls, unique in a Set.
	Name string

	// Op is the operation of the interpreter that the tool calls. It is zero for
	// read_output and for a program's own tools.
	Op codeinterp.Op

	// Title is a short name for people.
	Title string

	// Description is prose for the model.
	Description string

	// InputSchema is a flat JSON Schema of the arguments, valid for every known API.
	InputSchema json.RawMessage

	// StrictSchema is InputSchema for strict modes: all properties are required, and
	// optional ones may be null. If it is empty, InputSchema is used.
	StrictSchema json.RawMessage

	// OutputSchema describes Answer.JSON of calls that succeed. It may be empty.
	OutputSchema json.RawMessage

	// Annotations are hints about what the tool does.
	Annotations Annotations

	// Invoke serves a call. It never returns nil and is safe for concurrent use. A
	// [Set] fills in an empty CallID and Tool of the Answer.
	Invoke func(ctx context.Context, c Invocation) *Answer

	// OnRemembered, if set, is called instead of Invoke when a [Set] answers a call
	// from memory.
	OnRemembered func(ctx context.Context, c Invocation, a *Answer)
}

// Scrubbed returns the definition with the secrets in its texts and schemas replaced.
// The name stays, since calls use it: check names that others choose.
func (t Tool) Scrubbed(s *secret.Scrubber) Tool {
	set := s.Set()
	t.Title, t.Description = set.Name(t.Title), set.Name(t.Description)
	t.InputSchema, t.StrictSchema, t.OutputSchema = set.JSON(t.InputSchema), set.JSON(t.StrictSchema), set.JSON(t.OutputSchema)
	return t
}

// Annotations are hints about a tool, with the meanings of the Model Context
// Protocol. Set Destructive and OpenWorld if it is not known.
type Annotations struct {
	ReadOnly    bool // does not change anything
	Destructive bool // may destroy something outside of the interpreter, or a context
	Idempotent  bool // calling it again with the same arguments changes nothing
	OpenWorld   bool // may reach beyond the interpreter, such as the network
}

// An Invocation is one call of a tool by a model.
type Invocation struct {
	// ID is the id that the model's API gave the call; empty if it gave none.
	ID string

	// Tool is the name of the tool.
	Tool string

	// Args is the JSON of the arguments.
	Args json.RawMessage

	// OnOutput, if set, sees the program's output while it runs, scrubbed of
	// secrets; see [codeinterp.RunOptions].
	OnOutput func(codeinterp.Output) error
}

package tools

import (
	"context"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/tools/secret"
)

// A Tool is a definition for a model, and a function that serves its calls. It is
// plain data and a function, so that the tool type of any SDK can be filled
// from it, and so that a program's own tools can stand in one [Set] with ours.
type Tool struct {
	// Name is what the model calls, unique in a Set.
	Name string

	// Op is the operation of the interpreter that the tool asks for. It is
	// zero for read_output and for tools of the program's own.
	Op codeinterp.Op

	// Title is a short name for people.
	Title string

	// Description is prose for the model.
	Description string

	// InputSchema is a flat JSON Schema of the arguments that every known
	// API accepts.
	InputSchema json.RawMessage

	// StrictSchema is InputSchema for APIs with a strict mode: all
	// properties are required, optional ones may be null. Empty means that
	// the tool has none and InputSchema serves.
	StrictSchema json.RawMessage

	// OutputSchema describes Answer.JSON of calls that did not fail. It may
	// be empty.
	OutputSchema json.RawMessage

	// Annotations are hints about what the tool does.
	Annotations Annotations

	// Invoke serves a call. It never returns nil. It is safe for concurrent
	// use. A [Set] fills in the Answer's CallID and Tool where they are empty.
	Invoke func(ctx context.Context, c Invocation) *Answer

	// OnRemembered, if set, is called instead of Invoke where a [Set] answers a
	// call from memory.
	OnRemembered func(ctx context.Context, c Invocation, a *Answer)
}

// Scrubbed returns the definition with the secrets in its texts and schemas
// replaced. The name stays, since calls bear it: check it where others choose it.
func (t Tool) Scrubbed(s *secret.Scrubber) Tool {
	set := observe.Names(s.Set())
	t.Title, t.Description = set.Name(t.Title), set.Name(t.Description)
	t.InputSchema, t.StrictSchema, t.OutputSchema = set.JSON(t.InputSchema), set.JSON(t.StrictSchema), set.JSON(t.OutputSchema)
	return t
}

// Annotations are hints about a tool, with the meanings of the Model Context
// Protocol. The zero value of each is the harmless one, except that Destructive
// and OpenWorld should be set where it is not known.
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

package workspace

import (
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/plainjson"
)

// The types of events.
const (
	TypeStart  = "workspace_code_start" // after approval; a run that was refused has an end only
	TypeOutput = "workspace_code_output"
	TypeLate   = "workspace_code_late_output" // of a program that had ended before this run
	TypeCall   = "workspace_code_call"        // a call of a function of the host that has ended
	TypeEnd    = "workspace_code_end"

	// TypeNetwork is a connection or a request of a program that has ended. It may come
	// after the end of the run.
	TypeNetwork = "workspace_network"

	// TypeRemembered is a call that was answered from memory: nothing ran.
	TypeRemembered = "workspace_call_remembered"

	// The same of commands of the shell.
	TypeShellStart  = "workspace_shell_start"
	TypeShellOutput = "workspace_shell_output"
	TypeShellEnd    = "workspace_shell_end"

	// The same of terminals.
	TypeTerminalStart  = "workspace_terminal_start"
	TypeTerminalOutput = "workspace_terminal_output"
	TypeTerminalEnd    = "workspace_terminal_end"

	// TypeFile is a call of a file tool that is done: one event, without a start.
	TypeFile = "workspace_file"

	// TypeMissed comes last to a subscriber that missed the last events. It
	// has no number, and nothing but Missed.
	TypeMissed = "workspace_events_missed"
)

// An Event is something that happened in a workspace. Which of the last fields
// are set depends on Type.
type Event struct {
	Type      string
	Workspace string

	// Interpreter is the name of the interpreter beside the main one that
	// runs the code; empty for the main one.
	Interpreter string

	// Tool is the tool that was called; empty for runs of the program's own.
	Tool string

	CallID    string
	ContextID codeinterp.ContextID // empty for runs without a context

	// Seq numbers the workspace's events from 1, without gaps.
	Seq  uint64
	Time time.Time

	Language   string                   // of a start outside of a context
	Code       string                   // of a start: the program or the command
	Output     codeinterp.Output        // of an output
	Call       *codeinterp.CallRecord   // of a call; see [codeinterp.Function]
	Network    *codeinterp.NetworkEvent // of a connection or a request
	Result     *codeinterp.Result       // of an end or a remembered call, without its outputs
	Err        error                    // of an end: the error beside the Result; of a file
	Path       string                   // of a file
	Changes    bool                     // of a file: the tool changes files
	Remembered bool                     // of a file: the call was answered from memory
	Started    bool                     // of an end: there was a start
	Missed     uint64                   // how many events this subscriber missed just before this one
}

// eventJSON is the wire form of an Event.
type eventJSON struct {
	Type        string                   `json:"type"`
	Workspace   string                   `json:"workspace"`
	Interpreter string                   `json:"interpreter,omitempty"`
	Tool        string                   `json:"tool,omitempty"`
	CallID      string                   `json:"callId"`
	ContextID   string                   `json:"contextId,omitempty"`
	Seq         uint64                   `json:"seq"`
	Time        time.Time                `json:"time"`
	Language    string                   `json:"language,omitempty"`
	Code        string                   `json:"code,omitempty"`
	Output      *codeinterp.Output       `json:"output,omitempty"`
	Call        *codeinterp.CallRecord   `json:"call,omitempty"`
	Network     *codeinterp.NetworkEvent `json:"network,omitempty"`
	Result      *codeinterp.Result       `json:"result,omitempty"`
	Failure     string                   `json:"failure,omitempty"`
	Path        string                   `json:"path,omitempty"`
	Changes     bool                     `json:"changes,omitempty"`
	Remembered  bool                     `json:"remembered,omitempty"`
	Missed      uint64                   `json:"missed,omitempty"`
}

// MarshalJSON returns the wire form. The time is in UTC.
func (e Event) MarshalJSON() ([]byte, error) {
	w := eventJSON{
		Type: e.Type, Workspace: e.Workspace, Interpreter: e.Interpreter, Tool: e.Tool, CallID: e.CallID,
		ContextID: string(e.ContextID), Seq: e.Seq, Time: e.Time.UTC(), Language: e.Language, Code: e.Code, Result: e.Result, Missed: e.Missed,
		Call: e.Call, Network: e.Network, Path: e.Path, Changes: e.Changes, Remembered: e.Remembered,
	}
	if e.Output.Kind != 0 {
		w.Output = &e.Output
	}
	if e.Err != nil {
		w.Failure = e.Err.Error()
	}
	return plainjson.Marshal(w)
}

// newEvent returns the event for what happened in a run.
func newEvent(t observe.Event) Event {
	e := Event{
		Tool: t.Tool, CallID: t.CallID, ContextID: t.ContextID,
		Output: t.Output, Call: t.Call, Network: t.Network, Result: t.Result, Err: t.Err,
	}
	switch t.Kind {
	case observe.Start:
		e.Type, e.Language, e.Code = TypeStart, t.Language, t.Code
	case observe.Output:
		e.Type = TypeOutput
	case observe.LateOutput:
		e.Type = TypeLate
	case observe.Call:
		e.Type = TypeCall
	case observe.Network:
		e.Type = TypeNetwork
	case observe.End:
		e.Type, e.Started = TypeEnd, t.Started
	case observe.Remembered:
		e.Type = TypeRemembered
	}
	if types := typesOf[t.Op]; types != nil && e.Type != TypeRemembered && e.Type != TypeNetwork {
		e.Type = types[e.Type]
	}
	return e
}

// typesOf are the types of events about what is no code.
var typesOf = map[codeinterp.Op]map[string]string{
	codeinterp.OpCommand:  {TypeStart: TypeShellStart, TypeOutput: TypeShellOutput, TypeLate: TypeShellOutput, TypeEnd: TypeShellEnd},
	codeinterp.OpTerminal: {TypeStart: TypeTerminalStart, TypeOutput: TypeTerminalOutput, TypeLate: TypeTerminalOutput, TypeEnd: TypeTerminalEnd},
}

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
	Type      string `json:"type"`
	Workspace string `json:"workspace"`

	// Interpreter is the name of the interpreter beside the main one that
	// runs the code; empty for the main one.
	Interpreter string `json:"interpreter,omitempty"`

	// Tool is the tool that was called; empty for runs of the program's own.
	Tool string `json:"tool,omitempty"`

	CallID    string               `json:"callId"`
	ContextID codeinterp.ContextID `json:"contextId,omitempty"` // empty for runs without a context

	// Seq numbers the workspace's events from 1, without gaps.
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`

	Language   string                   `json:"language,omitempty"`   // of a start outside of a context
	Code       string                   `json:"code,omitempty"`       // of a start: the program or the command
	Output     codeinterp.Output        `json:"output,omitzero"`      // of an output
	Call       *codeinterp.CallRecord   `json:"call,omitempty"`       // of a call; see [codeinterp.Function]
	Network    *codeinterp.NetworkEvent `json:"network,omitempty"`    // of a connection or a request
	Result     *codeinterp.Result       `json:"result,omitempty"`     // of an end or a remembered call, without its outputs
	Err        error                    `json:"-"`                    // of an end: the error beside the Result; of a file
	Path       string                   `json:"path,omitempty"`       // of a file
	Changes    bool                     `json:"changes,omitempty"`    // of a file: the tool changes files
	Remembered bool                     `json:"remembered,omitempty"` // of a file: the call was answered from memory
	Started    bool                     `json:"-"`                    // of an end: there was a start
	Missed     uint64                   `json:"missed,omitempty"`     // how many events this subscriber missed just before this one
}

// MarshalJSON returns the wire form, which has Err as failure. The time is in UTC.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	e.Time = e.Time.UTC()
	w := struct {
		plain
		Failure string `json:"failure,omitempty"`
	}{plain: plain(e)}
	if e.Err != nil {
		w.Failure = e.Err.Error()
	}
	return plainjson.Marshal(w)
}

// newEvent returns the event for what happened in a run.
func newEvent(t observe.Event) Event {
	e := Event{
		Type: kinds[t.Kind], Tool: t.Tool, CallID: t.CallID, ContextID: t.ContextID,
		Output: t.Output, Call: t.Call, Network: t.Network, Result: t.Result, Err: t.Err,
	}
	switch t.Kind {
	case observe.Start:
		e.Language, e.Code = t.Language, t.Code
	case observe.End:
		e.Started = t.Started
	}
	if types := typesOf[t.Op]; types[e.Type] != "" {
		e.Type = types[e.Type]
	}
	return e
}

var kinds = map[observe.Kind]string{observe.Start: TypeStart, observe.Output: TypeOutput, observe.LateOutput: TypeLate, observe.Call: TypeCall,
	observe.Network: TypeNetwork, observe.End: TypeEnd, observe.Remembered: TypeRemembered}

// typesOf are the types of events about what is no code.
var typesOf = map[codeinterp.Op]map[string]string{
	codeinterp.OpCommand:  {TypeStart: TypeShellStart, TypeOutput: TypeShellOutput, TypeLate: TypeShellOutput, TypeEnd: TypeShellEnd},
	codeinterp.OpTerminal: {TypeStart: TypeTerminalStart, TypeOutput: TypeTerminalOutput, TypeLate: TypeTerminalOutput, TypeEnd: TypeTerminalEnd},
}

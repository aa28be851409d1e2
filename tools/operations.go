package tools

import (
	"context"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
)

// An operation is what one tool does: all that is to be said of it stands in
// its row, and its prose in descriptions/<name>.md.
type operation struct {
	name  string
	op    codeinterp.Op // zero where it is none of an interpreter's
	args  []argument
	needs func(*kit) bool
	hints func(codeinterp.Isolation) Annotations
	// output is the schema of Answer.JSON.
	output func() json.RawMessage
	serve  func(*kit, context.Context, decoded) *Answer
}

// operations are the rows, in the order of the tools.
var operations = []operation{
	{
		name: "run_code", op: codeinterp.OpRun, args: []argument{argLanguage, argCode, argTimeout},
		needs: always, hints: ofRuns, output: reflected[resultJSON], serve: (*kit).run,
	},
	{
		name: "create_code_context", op: codeinterp.OpCreate, args: []argument{argContextLanguage},
		needs: hasContexts, hints: ofChanges, output: reflected[createdJSON], serve: (*kit).create,
	},
	{
		name: "run_in_code_context", op: codeinterp.OpRunIn, args: []argument{argContext, argContextCode, argTimeout},
		needs: hasContexts, hints: ofRuns, output: reflected[resultJSON], serve: (*kit).runIn,
	},
	{
		name: "delete_code_context", op: codeinterp.OpDelete, args: []argument{argContext},
		needs: hasContexts, hints: ofLosses, output: reflected[okJSON], serve: (*kit).delete,
	},
	{
		name: "list_code_contexts", op: codeinterp.OpList,
		needs: managesContexts, hints: ofReads, output: reflected[listJSON], serve: (*kit).list,
	},
	{
		name: "restart_code_context", op: codeinterp.OpRestart, args: []argument{argContext},
		needs: managesContexts, hints: ofLosses, output: reflected[okJSON], serve: (*kit).restart,
	},
	{
		name: "interrupt_code_context", op: codeinterp.OpInterrupt, args: []argument{argContext},
		needs: managesContexts, hints: ofChanges, output: reflected[okJSON], serve: (*kit).interrupt,
	},
	{
		name: opReadOutput, args: []argument{argOutput, argStream, argOffset, argLimit},
		needs: readsOutput, hints: ofReads, output: reflected[Page], serve: (*kit).readOutput,
	},
}

// opReadOutput is one tool for all interpreters of a workspace.
const opReadOutput = "read_output"

func always(*kit) bool            { return true }
func hasContexts(k *kit) bool     { return k.contexts != nil && len(k.limits.contexts) > 0 }
func managesContexts(k *kit) bool { return hasContexts(k) && k.manager != nil && k.ManageContexts }
func readsOutput(k *kit) bool     { return k.ReadOutput }

// ofRuns are the hints of what runs code. What is not known counts as
// reachable.
func ofRuns(iso codeinterp.Isolation) Annotations {
	return Annotations{
		Destructive: iso.Filesystem != codeinterp.ReachBlocked || iso.Network != codeinterp.ReachBlocked,
		OpenWorld:   iso.Network != codeinterp.ReachBlocked,
	}
}

func ofChanges(codeinterp.Isolation) Annotations { return Annotations{} }

func ofLosses(codeinterp.Isolation) Annotations {
	return Annotations{Destructive: true, Idempotent: true}
}

func ofReads(codeinterp.Isolation) Annotations {
	return Annotations{ReadOnly: true, Idempotent: true}
}

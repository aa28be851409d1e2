package tools

import (
	"context"
	"encoding/json"

	"github.com/toolcell/toolcell/codeinterp"
)

// An operation is what one tool does: its row has all about it, and
// descriptions/<name>.md its prose.
type operation struct {
	name  string
	op    codeinterp.Op // zero if the interpreter has none
	args  []argument
	needs func(*kit) bool
	hints func(codeinterp.Isolation) Annotations
	// output is the schema of Answer.JSON.
	output func() json.RawMessage
	serve  func(*kit, context.Context, toolCall) *Answer
}

// operations are the rows, in the order of the tools.
var operations = []operation{
	{
		name: "run_code", op: codeinterp.OpRun, args: []argument{argLanguage, argCode, argTimeout},
		needs: hasCode, hints: ofRuns, output: reflected[resultJSON], serve: (*kit).run,
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
		name: "fork_code_context", op: codeinterp.OpFork, args: []argument{argContext},
		needs: forksContexts, hints: ofChanges, output: reflected[createdJSON], serve: (*kit).fork,
	},
	{
		name: "read_file", args: []argument{argPath, argLine, argLines, argFileOffset, argLimit},
		needs: hasFiles, hints: ofReads, output: reflected[fileJSON], serve: (*kit).readFile,
	},
	{
		name: "write_file", args: []argument{argPath, argContent, argAppend},
		needs: hasFiles, hints: ofOverwrites, output: reflected[writtenJSON], serve: (*kit).writeFile,
	},
	{
		name: "edit_file", args: []argument{argPath, argOld, argNew, argAll},
		needs: hasFiles, hints: ofOverwrites, output: reflected[editedJSON], serve: (*kit).editFile,
	},
	{
		name: "list_files", args: []argument{argFrom, argDepth, argMost},
		needs: hasFiles, hints: ofReads, output: reflected[filesJSON], serve: (*kit).listFiles,
	},
	{
		name: "glob", args: []argument{argGlob, argFrom, argMost},
		needs: hasFiles, hints: ofReads, output: reflected[filesJSON], serve: (*kit).glob,
	},
	{
		name: "grep", args: []argument{argSearch, argFrom, argInclude, argLiteral, argIgnoreCase, argMost},
		needs: hasFiles, hints: ofReads, output: reflected[matchesJSON], serve: (*kit).grep,
	},
	{
		name: "remove_file", args: []argument{argAnyPath, argRecursive},
		needs: hasFiles, hints: ofLosses, output: reflected[okJSON], serve: (*kit).removeFile,
	},
	{
		name: "run_command", op: codeinterp.OpCommand, args: []argument{argCommand, argCwd, argStdin, argTimeout},
		needs: hasShell, hints: ofRuns, output: reflected[resultJSON], serve: (*kit).runCommand,
	},
	{
		name: "start_command", op: codeinterp.OpCommand, args: []argument{argCommand, argCwd, argStdin, argCommandTimeout},
		needs: hasBackground, hints: ofRuns, output: reflected[startedJSON], serve: (*kit).startCommand,
	},
	{
		name: "command_output", args: []argument{argCommandID, argCommandOffset, argLimit, argWait},
		needs: hasBackground, hints: ofReads, output: reflected[commandOutputJSON], serve: (*kit).commandOutput,
	},
	{
		name: "command_input", args: []argument{argCommandID, argInput, argLast},
		needs: hasBackground, hints: ofRuns, output: reflected[writtenInputJSON], serve: (*kit).commandInput,
	},
	{
		name: "stop_command", args: []argument{argCommandID},
		needs: hasBackground, hints: ofLosses, output: reflected[commandJSON], serve: (*kit).stopCommand,
	},
	{
		name:  "list_commands",
		needs: hasBackground, hints: ofReads, output: reflected[commandsJSON], serve: (*kit).listCommands,
	},
	ofGit("git_clone", ofRuns, reflected[clonedJSON], (*kit).gitClone, argRepository, argCloneDir, argBranchOf),
	ofGit("git_status", ofReads, reflected[gitStatusJSON], (*kit).gitStatus, argGitDir),
	ofGit("git_diff", ofReads, reflected[gitDiffJSON], (*kit).gitDiff, argGitDir, argGitPath, argFromCommit, argToCommit, argStaged),
	ofGit("git_log", ofReads, reflected[gitLogJSON], (*kit).gitLog, argGitDir, argGitPath, argFromCommit, argCommits),
	ofGit("git_branches", ofReads, reflected[gitBranchesJSON], (*kit).gitBranches, argGitDir),
	ofGit("git_checkout", ofOverwrites, reflected[okJSON], (*kit).gitCheckout, argGitDir, argBranch, argCreate),
	ofGit("git_commit", ofChanges, reflected[gitCommitJSON], (*kit).gitCommit, argGitDir, argGitPath, argMessage),
	ofGit("git_push", ofRuns, reflected[okJSON], (*kit).gitPush, argGitDir),
	ofGit("git_pull", ofRuns, reflected[okJSON], (*kit).gitPull, argGitDir),
	{
		name: "start_terminal", op: codeinterp.OpTerminal, args: []argument{argTerminalCommand, argCwd, argColumns, argRows, argSettle},
		needs: hasTerminals, hints: ofRuns, output: reflected[terminalJSON], serve: (*kit).startTerminal,
	},
	{
		name: "terminal_input", args: []argument{argTerminalID, argText, argKeys, argSettle},
		needs: hasTerminals, hints: ofRuns, output: reflected[terminalJSON], serve: (*kit).terminalInput,
	},
	{
		name: "terminal_screen", args: []argument{argTerminalID, argSince, argLimit, argSettle},
		needs: hasTerminals, hints: ofReads, output: reflected[terminalJSON], serve: (*kit).terminalScreen,
	},
	{
		name: "stop_terminal", args: []argument{argTerminalID},
		needs: hasTerminals, hints: ofLosses, output: reflected[terminalJSON], serve: (*kit).stopTerminal,
	},
	{
		name: opReadOutput, args: []argument{argOutput, argStream, argOffset, argLimit},
		needs: readsOutput, hints: ofReads, output: reflected[Page], serve: (*kit).readOutput,
	},
}

// opReadOutput is one tool for all of a workspace.
const opReadOutput = "read_output"

func hasCode(k *kit) bool         { return k.ci != nil }
func hasFiles(k *kit) bool        { return k.files != nil }
func hasShell(k *kit) bool        { return k.shell != nil }
func hasTerminals(k *kit) bool    { return hasShell(k) && k.Terminals && k.shell.HasTerminals() }
func hasBackground(k *kit) bool   { return hasShell(k) && k.Background }
func hasGit(k *kit) bool          { return k.git != nil }
func hasContexts(k *kit) bool     { return k.contexts != nil && len(k.limits.contexts) > 0 }
func managesContexts(k *kit) bool { return hasContexts(k) && k.manager != nil && k.ManageContexts }
func forksContexts(k *kit) bool   { return hasContexts(k) && k.forker != nil && k.ForkContexts }
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

func ofOverwrites(codeinterp.Isolation) Annotations { return Annotations{Destructive: true} }

func ofLosses(codeinterp.Isolation) Annotations {
	return Annotations{Destructive: true, Idempotent: true}
}

func ofReads(codeinterp.Isolation) Annotations {
	return Annotations{ReadOnly: true, Idempotent: true}
}

// Package workspace puts interpreters under a name and gives an agent what it needs from
// them: tools, a live stream of events, and one Close.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
//	...
//	defer ws.Close()
//	stop := ws.Subscribe(func(e workspace.Event) { ... }, nil)
//	defer stop()
//	definitions, err := format.OpenAIChat{}.Tools(ws.Tools())
//	answer := ws.Dispatch(ctx, call.Name, call.Arguments, nil)
//
// # Capabilities
//
// A workspace has one main interpreter, and may have further ones beside it, each under a
// name of its own: a light embedded engine next to a full Python, for instance. A program
// can declare what it relies on: New fails if a declared language or ability is missing,
// and only what is declared is offered. A workspace that declares python refuses bash
// everywhere, and its descriptions do not mention it.
//
// It may also have files, for tools such as read_file and grep, and a shell, for tools such
// as run_command. Packages local, memory and jupyter make workspaces of all three that
// share a directory.
//
// # Events
//
// Every run, by a tool or by the program itself through [Workspace.Code], is seen as a
// workspace_code_start, its workspace_code_output events and a workspace_code_end, with a
// workspace_code_call for each call of a function between them; every command, also one in
// the background, in the same way as workspace_shell_start and so on. A call of a file tool
// is one workspace_file when it is done. Events are numbered without gaps, and every
// subscriber sees them in that order. Secrets were scrubbed from them.
//
// # Lifecycle
//
// A workspace owns its interpreters: Close closes them, which ends what runs. Pause stops
// all of its processes until Resume, also by itself after Options.IdlePause.
package workspace

// Package shell runs commands beside the code of an interpreter that has
// [codeinterp.Commands], in the foreground and in the background.
//
//	sh, err := shell.New(ci, nil)
//	...
//	defer sh.Close()
//	res, err := sh.Run(ctx, "make test", &codeinterp.CommandOptions{Cwd: "src"})
//
//	id, err := sh.Start(ctx, "make watch", nil)
//	out, err := sh.Output(ctx, id, nil)
//	info, err := sh.Stop(ctx, id)
//
// A terminal is a command in the background for editors, REPLs and password prompts:
//
//	id, err := sh.StartTerminal(ctx, "vim notes.txt", nil)
//	err = sh.Press(ctx, id, "down", "ctrl-c")
//	screen, err := sh.Screen(ctx, id)
//
// A command in the background has an id, by which its output is read, its input written,
// and signals are sent, until it is one of too many that have ended. Its output, both
// streams in the order of arrival, is kept up to Options.Keep bytes; the oldest go first.
// Its bytes are numbered from its begin, so that a reader knows what it missed.
//
// # Ends
//
// What a command started ends with it, and all commands end with Close or with the
// interpreter. The ctx of a Run ends that; the ctx of a Start bounds only the start. Where
// the provider keeps commands, those in the background outlive a process that ends without
// Close: [Shell.Attach] finds one by its Info.Ref.
//
// # Limits
//
// The limits are those of the interpreter for a single run, and Options.MaxCommands.
//
// # Security
//
// Commands reach what the interpreter's programs reach, and run there as the same user.
// Where these have no network, each command has one of its own, or none: a server in the
// background is reached by no other command or program.
package shell

package main

import (
	"context"
	"flag"
	"slices"
	"strings"
)

// A subcommand is what follows the command's name. Help, completion and the man
// page are made from the list of them.
type subcommand struct {
	name     string
	synopsis string // what follows the name
	does     string
	words    []string // that may come first, beside flags
	files    bool     // operands are files
	flags    func(fs *flag.FlagSet, getenv func(string) string)
	run      func(a *app, ctx context.Context, args []string) int
}

// subcommands are all of them, in the order of the help.
func subcommands() []subcommand {
	return []subcommand{
		{name: "run", synopsis: "[flags] (-e CODE | FILE | -) [ARG...]", does: "run a program, or a notebook, and show its output", files: true,
			flags: new(runFlags).registerAll, run: (*app).run},
		{name: "repl", synopsis: "[flags]", does: "type programs and see their output; variables stay",
			flags: new(replFlags).registerAll, run: (*app).repl},
		{name: "mcp", synopsis: "[flags]", does: "serve the tools over MCP",
			flags: new(mcpFlags).registerAll, run: (*app).mcp},
		{name: "env", synopsis: envSynopsis, does: "keep Python environments for programs", words: []string{"create", "lock", "list", "remove", "sweep"},
			flags: new(envFlags).register, run: (*app).env},
		{name: "keep", synopsis: keepSynopsis, does: "list, or end, the processes that run --keep has left", words: []string{"list", "stop"}, run: (*app).keep},
		{name: "doctor", synopsis: "[flags]", does: "say what this machine has",
			flags: new(providerFlags).register, run: (*app).doctor},
		{name: "sweep", synopsis: "--url URL [flags]", does: "delete Jupyter kernels that a killed command left",
			flags: new(sweepFlags).registerAll, run: (*app).sweep},
		{name: "completion", synopsis: "(bash | zsh | fish)", does: "print what completes this command in a shell", words: shells, run: (*app).completion},
		{name: "man", does: "print the man page", run: (*app).man},
		{name: "version", does: "say which version this is", run: (*app).printVersion},
		{name: "help", synopsis: "[COMMAND]", does: "say this, or the flags of a command", run: (*app).help},
	}
}

// usage is the help.
func usage() string {
	var b strings.Builder
	b.WriteString("Toolcell runs code for LLM agents.\n\n")
	for _, c := range subcommands() {
		b.WriteString("  " + strings.TrimSpace("toolcell "+c.name+" "+c.synopsis) + "\n        " + c.does + "\n")
	}
	b.WriteString("  toolcell COMMAND --help\n        say the flags of a command\n")
	return b.String()
}

// help is that of a command without flags.
func (c subcommand) help() string {
	return "usage: " + strings.TrimSpace("toolcell "+c.name+" "+c.synopsis) + "\n\n  " + c.does + "\n"
}

// flagsOf returns a command's flags, sorted by name.
func flagsOf(c subcommand) (list []*flag.Flag) {
	if c.flags == nil {
		return nil
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	// Without the environment, whose values would show as defaults.
	c.flags(fs, func(string) string { return "" })
	fs.VisitAll(func(f *flag.Flag) { list = append(list, f) })
	return list
}

// dashed is a flag as it is typed.
func dashed(f *flag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// askNames is what a shell asks for the names of environments.
const askNames = `toolcell env list 2>/dev/null | cut -d" " -f1`

// namesOf is what a shell asks for the values of a flag that only the machine knows.
func namesOf(f *flag.Flag) string {
	if f.Name == "env-name" {
		return askNames
	}
	return ""
}

// valuesOf are the values of a flag that has few; files says that they are
// paths, and takes that there is a value at all.
func valuesOf(f *flag.Flag) (values []string, files, takes bool) {
	switch f.Name {
	case "provider":
		return providerList, false, true
	case "isolation":
		return []string{"bwrap", "landlock", "none"}, false, true
	case "images":
		return []string{"auto", "kitty", "iterm2", "sixel", "none"}, true, true
	case "language", "languages":
		return []string{"bash", "javascript", "python", "typescript"}, false, true
	}
	what, _ := flag.UnquoteUsage(f)
	return nil, slices.Contains([]string{"file", "path", "directory"}, what), what != ""
}

// Package codemode gives a model one tool in place of many: it runs a program in
// which the many are functions. A program that calls ten tools, filters what
// they return and prints the answer takes one turn instead of ten, and what lies
// between never reaches the model.
//
//	run, err := codemode.New(ci, list, nil)
//	set, err := tools.NewSet([]tools.Tool{run}, nil)
//
// The description of the tool declares the functions, in TypeScript or as Python
// stubs, as far as there is room; of more functions it has the names, and
// programs call tools.search({query}) and tools.describe({name}) for the rest.
//
// A [Mode] has entries in place of bare tools: who may call each one, what must not
// be called at once, and files. It follows changes of its list. Package mcptools
// makes entries of the tools of MCP servers.
//
// # Files
//
// An image or file that a tool returns is never part of a value, where it would be
// printed as base64. The value has {handle, mime, bytes} in its list _files, and
// tools.display({handle}) shows it among the run's outputs, where the program is; a
// value that is no object becomes {value, _files}. With [Options].Files it is a file
// beside the program too.
// A run keeps 64 MiB of them and displays 16 MiB, and says what it left out.
//
// # Approval
//
// With [Pauses], a call of a function waits for a person. The tool call is answered
// as paused meanwhile, and resume_code waits for the rest. The program stays where
// it is, so it need not be one that can be repeated; it does not outlive the host.
//
// # Limits
//
// Programs run without contexts: nothing outlives a call of the tool. Declarations
// say what the JSON Schemas say of types; formats, patterns and bounds are left to the tools, which check their
// arguments. A schema that is too large or too deep is declared as unknown.
//
// # Security
//
// A program reaches the tools that it was given and what its provider lets it
// reach, nothing else. Names, descriptions and schemas of tools are data of
// whoever made them: in declarations they stay within comments, strings and
// identifiers, whatever they hold. They are not protected against text that
// argues with the model.
package codemode

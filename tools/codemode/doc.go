// Package codemode replaces many tools of a model by one, which runs a program that calls
// them as functions. A program that calls ten tools, filters their results and prints an
// answer takes one turn instead of ten, and the model does not read the results.
//
//	mode, err := codemode.New(ci, codemode.Entries(list), nil)
//	set, err := tools.NewSet(mode.Tools(), nil)
//
// The description of the tool declares the functions, in TypeScript or as Python stubs.
// If they do not fit, it has their names, and programs call tools.search({query}) and
// tools.describe({name}). An [Entry] says who may call a tool. [Mode.Set] changes the functions of programs that start later. For a workspace,
// pass [Mode.Interpreter] to it and its tools to [Mode.Extend]. Package mcptools returns
// entries for the tools of MCP servers.
//
// # Files
//
// An image or file that a tool returns is never part of a value, where it would be
// printed as base64: the value has {handle, mime, bytes} in its list _files, and
// tools.display({handle}) shows it among the outputs of the run. A value that is not an
// object becomes {value, _files}. With [Options].Files it is also a file of the
// program.
//
// # Approval
//
// With [Options].Approve calls wait for a person: the tool call is answered as paused, and
// resume_code waits for the rest. [Mode.Decide] allows or refuses a call.
//
// # Limits
//
// Programs run without contexts: no state outlives a call of the tool. A run keeps 64 MiB
// of files and displays 16 MiB. Declarations show the types of JSON Schemas; formats,
// patterns and bounds are left to the tools. A schema that is too large or too deep is
// declared as unknown.
//
// # Security
//
// A program reaches the tools that it was given and what its provider allows, nothing
// else. Names, descriptions and schemas of tools are untrusted: in declarations they stay
// within comments, strings and identifiers. They are not protected against text that
// argues with the model.
package codemode

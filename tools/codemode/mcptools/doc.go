// Package mcptools gives programs the tools of MCP servers: it connects to the
// servers, by standard input and output or by HTTP, and makes their tools the
// entries of a code mode.
//
//	set, err := mcptools.Open(ctx, servers, &mcptools.Options{})
//	defer set.Close()
//	mode, err := codemode.Open(ci, set.Entries(), nil)
//	set.OnChange(func(list []codemode.Entry) { mode.Set(list) })
//
// Parse reads the servers from the JSON that hosts of the protocol use. The tool
// get-issue of the server github is the function github_get_issue.
//
// # Results
//
// A structured result is a value, text is a string. Images, audio and blobs never
// are: of each a [codemode.File] is made, which programs get as a handle to
// display, or as a file beside them. A link to a resource is a line of the text.
//
// # Servers that fail
//
// Problems lists a server that cannot be reached or does not list its tools, and the
// model learns of it in the place of its tools; the others serve. What is no tool is
// left out of a list. A server that dies, whatever it leaves behind, is started anew by
// the next call of one of its tools; a call that was in progress fails, and says that it
// may have been done. So does one whose connection broke, or whose answer is none.
//
// To a model that calls a tool itself, what the tool says of its failure is a
// [tools.Failure] of the code tool_failed, as is a call that may have been done; one
// that the server did not get is unavailable, or canceled where the caller gave it up.
//
// A line of a server's output that is no message, or an answer with an id that no
// request can have, is left out and told by Problems; up to 1,000 lines and 1 MiB may
// stand between two messages. Over HTTP a body that is no message ends the session, and
// one that answers another request fails the call.
//
// A call has [Options].Timeout, a message 16 MiB, an answer 500,000 members, a server 500
// tools on 100 pages, of which one that brings nothing new is the last. Whatever is
// beyond is left out, and said so; over streamable HTTP an answer with too many members ends the session. Large answers
// at once wait in the server for those before them, and over streamable HTTP a request's
// stream carries one large message. One that sends requests and does not read the
// answers is ended. Of what a server sends by itself only the news that its tools have
// changed is heeded; a ping is answered.
//
// # Limits
//
// Servers get no sampling, no elicitation and no roots: a tool that asks a person
// for something fails. Whole numbers beyond 2^53 in structured results are rounded,
// as in JavaScript. A server whose host process is killed outright, without
// Close, ends when it notices that its standard input has ended. What a server starts
// ends with it where it stays in its process group; a child that has made a session of
// its own goes on, and on Windows every child does.
//
// # Security
//
// Servers run outside of what isolates programs, with the environment that their
// configuration gives them beside PATH, HOME and the like. Programs reach their
// tools, never their processes, environments, headers or URLs: errors that tell of
// those are for [Options].Logger. What a server itself puts into its answers is its
// own business, except for the values of [Options].Secrets, which are replaced.
// Headers go to the host of the URL only. Names, descriptions and schemas are
// checked and bounded as in package codemode, and not protected against text that
// argues with the model.
package mcptools

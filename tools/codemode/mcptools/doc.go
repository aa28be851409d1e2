// Package mcptools makes the tools of MCP servers callable by programs: it connects to the
// servers, over standard input and output or over HTTP, and returns their tools as entries
// for package codemode.
//
//	set, err := mcptools.Open(ctx, servers, nil)
//	defer set.Close()
//	mode, err := codemode.New(ci, set.Entries(), &codemode.Options{OnRun: set.Retry})
//	set.OnChange(func(list []codemode.Entry) { mode.Set(list) })
//
// [Parse] reads servers from the JSON configuration that MCP hosts use. The tool get-issue
// of the server github becomes the function github_get_issue.
//
// # Results
//
// A structured result is the value of a call; text with other content is its member _text.
// Without one, text that is a JSON object or array is a value, and any other text is a
// string. Images, audio and blobs become a [codemode.File] each.
//
// # Servers that fail
//
// [Open] waits a few seconds for the servers and returns without those that are slow; their
// tools appear when they answer, and [Set.Retry] waits for one that a program names. A
// server that is away is tried again in the background and by [Set.Retry]; one that ended
// is started by the next call of one of its tools. A malformed answer ends the session and
// the calls in progress. [Set.Problems] lists what is wrong.
//
// # Limits
//
// A message has at most 16 MiB; a longer one ends the session. Ids are numbers in answers too. A server has at most 500
// tools. Servers get no sampling, elicitation or roots. Integers above 2^53 in structured
// results are rounded. On Unix the process group of a server is ended with it.
//
// # Security
//
// Servers are the operator's: they run outside of the sandbox of programs. Programs reach
// their tools, never their environment, headers or URLs. HTTP headers are sent to the host
// of the URL only. The values of [Options].Secrets are replaced in everything that servers
// list or answer; binary files are not searched. Descriptions are not protected against
// text that argues with the model.
package mcptools

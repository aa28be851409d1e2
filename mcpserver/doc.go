// Package mcpserver serves the tools of a workspace to every host of the Model
// Context Protocol, over standard input and output or over HTTP.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
//	...
//	server, err := mcpserver.New(ws, nil)
//	...
//	err = server.ServeStream(ctx, os.Stdin, os.Stdout)
//	err = server.ListenAndServe(ctx, ":8080", &mcpserver.HTTPOptions{Tokens: []string{token}})
//
// The command "toolcell mcp" is this package with a provider behind it. It
// speaks revision 2026-07-28 of the protocol, 2025-11-25, and the older ones
// that hosts still use, to each client the one that it asks for.
//
// # Hosts
//
// Claude Code:
//
//	claude mcp add toolcell -- toolcell mcp
//	claude mcp add --transport http toolcell http://127.0.0.1:8080/mcp --header "Authorization: Bearer ..."
//
// Claude Desktop (claude_desktop_config.json) and Cursor (.cursor/mcp.json, or
// ~/.cursor/mcp.json for all projects):
//
//	{"mcpServers": {"toolcell": {"command": "toolcell", "args": ["mcp"]}}}
//
// VS Code (.vscode/mcp.json):
//
//	{"servers": {"toolcell": {"type": "stdio", "command": "toolcell", "args": ["mcp"]}}}
//
// Hosts that are started from a menu may not have the PATH of a shell: give the
// full path of the command then.
//
// In Cursor and VS Code a server that is reached over HTTP has "url":
// "http://127.0.0.1:8080/mcp" in place of the command, and where it wants a
// token "headers": {"Authorization": "Bearer ..."}; VS Code wants "type":
// "http" as well.
//
// # Results
//
// A result is a text that stands alone, then the images, then the same in JSON
// as structuredContent, in which images are replaced by the number of their
// block. A program that fails, or runs out of its time, is a result like any
// other. isError is for calls that failed: bad arguments, an unknown or expired
// context, a provider that is down.
//
// # Resources
//
// Where the workspace's options ask for artifacts, the files that a run created or
// changed are resources: an answer has links to the first 20, resources/list names
// the last 200 of the client, and resources/read serves them, up to 8 MiB each, to
// that client alone. A file of a context is read as it is by then, and is gone
// with the context; of those of other runs the last 16 MiB of each client are kept,
// and 256 MiB of all clients together, of which each of several tokens has its share.
// Secrets are scrubbed from text, not from other files. A client with neither a
// session nor a token finds nothing in the list, and can read what it knows the URI
// of; URIs cannot be guessed. Clients of revisions before 2025-06-18, which know no links,
// have the list.
//
// # Progress
//
// A call that comes with a progress token is reported on while it runs: what
// the program prints, at most four times a second and at most the last 2 KiB
// each time, and every few seconds that it still runs, so that hosts with a
// time limit for silence do not give up. A slow client misses some of it and
// never slows the program down; the result has everything. A run whose call
// sets no timeout ends after 45 seconds, before hosts that wait for 60 stop
// waiting.
//
// # Contexts
//
// A context belongs to the client that created it, which is the session; where
// there are no sessions, as in revision 2026-07-28 over HTTP, it is whoever
// holds the bearer token, and without tokens everybody who knows the context's
// id, which cannot be guessed. Nobody else finds it: list_code_contexts is
// refused where nothing tells clients apart, and there the limits for one
// client are those of all of them together. A context ends with the session,
// after [Limits].Idle without use, or when it is [Limits].Lifetime old; the
// description of the tool says so to the model.
//
// # Commands
//
// A command in the background belongs to the client that started it, as a context
// does, and ends with its session or the server. Each of several tokens has an equal
// share of those that there can be, a user of [HTTPOptions].Verify half. All clients share the
// workspace's directory.
//
// # Concurrency
//
// A Server is safe for concurrent use and serves any number of clients, within
// [Limits].
//
// # Security
//
// Whoever may call the tools runs code with all that the provider lets code
// reach. Over HTTP the server therefore serves beyond loopback only with a
// bearer token, which is compared in constant time; answers only to host names
// that are certainly its own, so that a web page cannot reach it by DNS
// rebinding; refuses requests of web pages from other origins than those
// listed; and limits the size of requests and how many members they have, the number of sessions and the time
// that a client may take to send or to read. There is no TLS: put a proxy with
// TLS in front before a token crosses a network, and list its name in
// [HTTPOptions].Hosts.
//
// A client that drops the request of a call, ends its session, or closes the
// stream ends its programs, in every revision.
//
// # Limits
//
// A message on a stream has at most 16 MiB. No more of a stream is read, not even
// that a call is canceled, while 1,000 requests or 32 MiB of them have no answer
// that the client took. Over HTTP requests of 64 MiB together, or of one of
// the largest for each token, may wait for their answers, each counted for 32 KiB more
// than its body, and as many requests as it has calls where it is a batch. Each of several
// tokens has an equal share of that, as much as one request may have at least, and a user of
// [HTTPOptions].Verify half; further ones are answered 503. Answers of more than 32 KiB
// may have 64 MiB together that their clients have not taken, or 24 MiB for each token up
// to 256 MiB: resources/read is refused beyond that, and the answer of a call goes
// without its images, or its text, and says so. A session has up to 1,000 notifications
// waiting, of those that are heeded: cancelled and initialized. Files of which a string
// would be more than twice as long are read as blobs. None of this bounds answers on a
// stream, whose client is whoever started the server. Answers cannot be
// fetched again over HTTP after the connection was lost: the program was ended.
// Prompts, sampling, elicitation, the tasks extension, and subscriptions to
// resources are not offered. Trace context is read from the _meta of a request and passed on with
// the ctx, see [tools.TraceOf].
package mcpserver

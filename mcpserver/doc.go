// Package mcpserver serves the tools of a workspace to hosts of the Model Context Protocol
// (MCP), over standard input and output or over HTTP.
//
//	ws, err := workspace.New("demo", workspace.Capabilities{Code: ci}, nil)
//	...
//	err = mcpserver.Run(ctx, ws) // standard input and output
//
//	server, err := mcpserver.New(ws, nil)
//	...
//	err = server.ListenAndServe(ctx, ":8080", &mcpserver.HTTPOptions{Tokens: []string{token}})
//
// The command "toolcell mcp" is this package with a provider. It speaks revision 2026-07-28
// of the protocol and the older ones. Hosts are configured like this:
//
//	claude mcp add toolcell -- toolcell mcp
//	claude mcp add --transport http toolcell http://127.0.0.1:8080/mcp --header "Authorization: Bearer ..."
//	{"mcpServers": {"toolcell": {"command": "toolcell", "args": ["mcp"]}}}               Claude Desktop, Cursor
//	{"servers": {"toolcell": {"type": "stdio", "command": "toolcell", "args": ["mcp"]}}} VS Code
//
// # Results
//
// A result is a complete text, then the images, then the same in JSON as structuredContent.
// A program that fails or reaches its timeout is a result; isError is for calls that
// failed, such as bad arguments. A call with a progress token reports output at most four
// times a second, and every few seconds that it runs.
//
// # Clients
//
// A context, a background command and stored output belong to the client that made them:
// the session, or without sessions the holder of the bearer token. Clients without both
// share what they know the id of, and get no lists. A context ends with its session or
// after [Limits].Idle without use. A client that drops the request of a call, ends its
// session or closes the stream ends its programs. All clients share the workspace's
// directory.
//
// # Artifacts
//
// If the workspace reports artifacts, the files that a run created or changed are resources
// of its client: an answer links the first 20, resources/list has the last 200, and
// resources/read reads up to 8 MiB of each. Files of a context are read as they are then;
// of other runs 16 MiB per client are kept.
//
// # Operation
//
// [Options].Logger receives a line for each call. [Server.Serve] also serves /healthz,
// /readyz and /metrics. [Limits] bound runs; a call beyond their queues fails with the code
// capacity. [HTTPOptions].Drain lets calls finish at the end.
//
// # Limits
//
// A message on a stream has at most 16 MiB, an HTTP request 10 MiB; there are at most 256
// sessions over HTTP. There are no batches, prompts, sampling, elicitation, tasks or
// resource subscriptions. An answer cannot be fetched again after its connection was lost.
//
// # Security
//
// Whoever may call the tools runs code with all that the provider allows. Beyond loopback
// the server requires a bearer token, which is compared in constant time. It answers only
// to host names that are its own, against DNS rebinding, and refuses web pages of other
// origins. There is no TLS: use a proxy with TLS, and list its name in [HTTPOptions].Hosts.
package mcpserver

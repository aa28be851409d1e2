// Package seeds has the examples of the documents that Toolcell descends from, written
// with it, in the order of their pages: the code interpreter of a capsule
// (interpreter_test.go), its async form with commands, files, a life cycle and a PTY
// (async_test.go), Open WebUI's call of a Jupyter server (openwebui_test.go), and the tools
// that Helix makes of an interpreter with declared languages (tools_test.go). docs/seeds.md
// shows both sides.
//
//	go test -tags real -v ./examples/seeds
package seeds

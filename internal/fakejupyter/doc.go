// Package fakejupyter is a Jupyter server in memory, for tests of its clients:
// it listens on pipes, never on the network, so that it runs inside
// testing/synctest, and its kernels play what a test tells them, message by
// message and in any order.
//
//	s := fakejupyter.New()
//	defer s.Close()
//	s.Execute = func(k *fakejupyter.Kernel, req *fakejupyter.Message) {
//		k.IOPub(req, "status", fakejupyter.Status("busy"))
//		k.IOPub(req, "stream", fakejupyter.Stream("stdout", "hello\n"))
//		k.Reply(req, "execute_reply", fakejupyter.OK(1))
//		k.IOPub(req, "status", fakejupyter.Status("idle"))
//	}
//
// Clients dial it with [Server.DialContext]. It shares no code with the client
// that it tests: the WebSocket and message framing are its own.
package fakejupyter

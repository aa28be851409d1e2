// Package fakejupyter is a Jupyter server in memory, for tests of its clients. It listens
// on pipes, so that it runs inside testing/synctest, and its kernels play the messages of a
// test in any order.
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
// Clients dial it with [Server.DialContext] or [Server.Client].
package fakejupyter

//go:build linux

package jupyter_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// carriageServer is the web framework of Jupyter's servers with no kernel behind
// it: to each message it answers with as many, and as long ones, as 1+1 has.
const carriageServer = `
import tornado.httpserver, tornado.ioloop, tornado.netutil, tornado.web, tornado.websocket
class Handler(tornado.websocket.WebSocketHandler):
    def select_subprotocol(self, offered): return offered[0]
    def on_message(self, message):
        for _ in range(5): self.write_message(b"x" * 600, binary=True)
server = tornado.httpserver.HTTPServer(tornado.web.Application([("/", Handler)]))
sockets = tornado.netutil.bind_sockets(0, "127.0.0.1")
server.add_sockets(sockets)
print(sockets[0].getsockname()[1], flush=True)
tornado.ioloop.IOLoop.current().start()
`

// carriage returns what exchanges the messages of 1+1 with a server that only
// carries them.
func carriage(b *testing.B, name string) func() {
	cmd := exec.CommandContext(b.Context(), filepath.Join(testenv(), name, "bin", "python"), "-c", carriageServer)
	out := must(cmd.StdoutPipe())(b)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port := strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n'))(b))
	ws, _, err := floorDialer.Dial("ws://127.0.0.1:"+port+"/", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.Close() })
	request := make([]byte, 400)
	return func() {
		if err := ws.WriteMessage(websocket.BinaryMessage, request); err != nil {
			b.Fatal(err)
		}
		for range 5 {
			if _, _, err := ws.ReadMessage(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

//go:build linux && real

package jupyter_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// floor is the least that a client can do, and what benchmarks compare with:
// one socket with TCP_QUICKACK, the binary protocol, and no care for anything
// that could go wrong.
type floor struct {
	base, token, kernel string
	ws                  *websocket.Conn
	n                   int
}

type quickConn struct {
	net.Conn
	raw syscall.RawConn
}

func (q quickConn) Read(p []byte) (int, error) {
	n, err := q.Conn.Read(p)
	_ = q.raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, 12, 1) })
	return n, err
}

func (f *floor) call(method, path string, in, out any) error {
	body, _ := json.Marshal(in)
	req, err := http.NewRequest(method, f.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "token "+f.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

var floorDialer = websocket.Dialer{ReadBufferSize: 64 << 10, Subprotocols: []string{"v1.kernel.websocket.jupyter.org"},
	NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		if err != nil {
			return nil, err
		}
		raw, err := c.(*net.TCPConn).SyscallConn()
		return quickConn{c, raw}, err
	}}

// newFloor starts a kernel and waits until it answers.
func newFloor(s *server) (*floor, error) {
	f := &floor{base: s.url, token: s.token}
	for range 300 {
		if f.call("GET", "api/kernelspecs", nil, nil) == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	var k struct{ ID string }
	if err := f.call("POST", "api/kernels", map[string]string{"name": "python3"}, &k); err != nil {
		return nil, err
	}
	f.kernel = k.ID
	var err error
	f.ws, _, err = floorDialer.Dial("ws"+strings.TrimPrefix(f.base+"api/kernels/"+f.kernel+"/channels?session_id=floor", "http"),
		http.Header{"Authorization": {"token " + f.token}})
	if err != nil {
		return nil, err
	}
	_, err = f.ask("kernel_info_request", "{}")
	return f, err
}

func (f *floor) close() {
	f.ws.Close()
	_ = f.call("DELETE", "api/kernels/"+f.kernel, nil, nil)
}

// run executes code and returns how many bytes of content came.
func (f *floor) run(code string) (int, error) {
	b, _ := json.Marshal(map[string]any{"code": code, "silent": false, "store_history": true,
		"user_expressions": map[string]any{}, "allow_stdin": true, "stop_on_error": false})
	return f.ask("execute_request", string(b))
}

func (f *floor) ask(typ, content string) (int, error) {
	f.n++
	id := fmt.Sprintf("floor_%d", f.n)
	if err := f.send("shell", id, typ, content); err != nil {
		return 0, err
	}
	return f.await(id)
}

func (f *floor) send(channel, id, typ, content string) error {
	parts := []string{channel, fmt.Sprintf(`{"msg_id":%q,"msg_type":%q,"session":"floor","username":"","version":"5.3","date":""}`, id, typ), "{}", "{}", content}
	off := uint64(8 * (2 + len(parts)))
	msg := binary.LittleEndian.AppendUint64(nil, uint64(len(parts)+1))
	for _, p := range parts {
		msg = binary.LittleEndian.AppendUint64(msg, off)
		off += uint64(len(p))
	}
	msg = append(binary.LittleEndian.AppendUint64(msg, off), strings.Join(parts, "")...)
	return f.ws.WriteMessage(websocket.BinaryMessage, msg)
}

// await reads until a request is done, and answers what it asks.
func (f *floor) await(id string) (int, error) {
	size := 0
	for reply, idle := false, false; !reply || !idle; {
		_, b, err := f.ws.ReadMessage()
		if err != nil {
			return size, err
		}
		at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*(1+i):]) }
		var head, parent struct {
			ID   string `json:"msg_id"`
			Type string `json:"msg_type"`
		}
		if err := json.Unmarshal(b[at(1):at(2)], &head); err != nil {
			return size, err
		}
		if err := json.Unmarshal(b[at(2):at(3)], &parent); err != nil {
			return size, err
		}
		if parent.ID != id {
			continue
		}
		if head.Type == "input_request" {
			if err := f.send("stdin", head.ID+"r", "input_reply", `{"value":"{\"v\":1}"}`); err != nil {
				return size, err
			}
		}
		body := b[at(4):at(5)]
		size += len(body)
		reply = reply || strings.HasSuffix(head.Type, "_reply")
		idle = idle || head.Type == "status" && bytes.Contains(body, []byte(`"idle"`))
	}
	return size, nil
}

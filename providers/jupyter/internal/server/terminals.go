package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// terminalLimit is how long a server has to start or end a terminal.
	terminalLimit = 10 * time.Second

	// maxShown bounds a frame of a terminal. A new client gets what was shown before in one.
	maxShown = 16 << 20
)

// HasTerminals reports whether the server has terminals for this client.
func (c *Client) HasTerminals(ctx context.Context) (bool, error) {
	err := c.Await(ctx, func(ctx context.Context) error { return c.do(ctx, http.MethodGet, "api/terminals", nil, nil) })
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code < 500 {
		return false, nil
	}
	return err == nil, err
}

// StartTerminal starts a terminal of this name, which has letters and digits. After an
// error it may be there.
func (c *Client) StartTerminal(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, terminalLimit, Unavailable("the server started no terminal within %v", terminalLimit))
	defer cancel()
	var started struct{ Name string }
	err := c.do(ctx, http.MethodPost, "api/terminals", map[string]string{"name": name}, &started)
	if err == nil && started.Name != name {
		// An old server, which chooses the names.
		_ = c.DeleteTerminal(ctx, started.Name)
		return Unavailable("the server does not name terminals as it is asked to")
	}
	return err
}

// DeleteTerminal ends a terminal and its shell. One that is gone is no error.
func (c *Client) DeleteTerminal(ctx context.Context, name string) error {
	err := c.call(ctx, terminalLimit, http.MethodDelete, "api/terminals/"+name, nil)
	if e, ok := errors.AsType[*StatusError](err); ok && e.Code == http.StatusNotFound {
		return nil
	}
	return err
}

// A Terminal is a connection to a terminal. One goroutine may read, and any may send.
type Terminal struct {
	ws   *websocket.Conn
	mu   sync.Mutex // serializes writes
	once sync.Once
	done chan struct{}
}

// DialTerminal connects to a terminal, within ctx.
func (c *Client) DialTerminal(ctx context.Context, name string) (*Terminal, error) {
	ws, _, err := c.dial(ctx, "terminals/websocket/"+name)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxShown)
	t := &Terminal{ws: ws, done: make(chan struct{})}
	go t.ping()
	return t, nil
}

// ping shows that both ends are there, also while Read is not called.
func (t *Terminal) ping() {
	tick := time.NewTicker(PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			soon := time.Now().Add(PingEvery)
			_ = t.ws.WriteControl(websocket.PingMessage, nil, soon)
			_ = t.ws.WriteControl(websocket.PongMessage, nil, soon)
		case <-t.done:
			return
		}
	}
}

// Send sends a message, such as "stdin" and a text.
func (t *Terminal) Send(message ...any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ws.SetWriteDeadline(time.Now().Add(requestTimeout)); err != nil {
		return err
	}
	return t.ws.WriteJSON(message)
}

// Read returns the text that is shown next, or ended if the shell has ended.
func (t *Terminal) Read() (text string, ended bool, err error) {
	for text == "" && err == nil {
		var message [2]json.RawMessage
		var kind string
		if err = t.ws.ReadJSON(&message); err == nil {
			err = json.Unmarshal(message[0], &kind)
		}
		switch {
		case err != nil:
		case kind == "disconnect":
			return "", true, nil
		case kind == "stdout":
			err = json.Unmarshal(message[1], &text)
		}
	}
	return text, false, err
}

// Close ends the connection, and leaves the terminal as it is. It may be called again.
func (t *Terminal) Close() {
	t.once.Do(func() {
		close(t.done)
		t.ws.Close()
	})
}

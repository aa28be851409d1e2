// Package wire decodes and encodes the messages of a Jupyter kernel's channels. It does
// no I/O of its own.
package wire

import (
	"encoding/json"
	"time"
)

// A Header is the part of Jupyter's message headers that we use.
type Header struct {
	ID      string `json:"msg_id"`
	Type    string `json:"msg_type"`
	Session string `json:"session"`
	User    string `json:"username"`
	Date    string `json:"date"`
	Version string `json:"version"`
}

// A Message is one message of a kernel's channels. Its content is read
// separately; see Frame.
type Message struct {
	Channel string          `json:"channel"`
	Header  Header          `json:"header"`
	Parent  Header          `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

// NewHeader returns the header of a request of ours.
func NewHeader(id, typ, session string) Header {
	return Header{ID: id, Type: typ, Session: session, User: "toolcell", Version: "5.3",
		Date: time.Now().UTC().Format(time.RFC3339Nano)}
}

// ExecuteRequest is the content of an execute_request.
type ExecuteRequest struct {
	Code         string            `json:"code"`
	Silent       bool              `json:"silent"`
	StoreHistory bool              `json:"store_history"`
	Expressions  map[string]string `json:"user_expressions"`
	AllowStdin   bool              `json:"allow_stdin"`
	StopOnError  bool              `json:"stop_on_error"`
}

// ExecuteReply is the content of an execute_reply.
type ExecuteReply struct {
	Status      string                `json:"status"` // ok, error, aborted or abort
	Count       int                   `json:"execution_count"`
	Name        string                `json:"ename"`
	Value       string                `json:"evalue"`
	Traceback   []string              `json:"traceback"`
	Expressions map[string]Expression `json:"user_expressions"`
	Payload     json.RawMessage       `json:"payload"` // see Shown
	ID          string                `json:"id"`      // of the request; only where the dialect's outcome has it
}

// Expression is the outcome of a user expression.
type Expression struct {
	Status string `json:"status"`
	Data   struct {
		Text string `json:"text/plain"`
	} `json:"data"`
}

// IsTrue reports whether a Python expression was True.
func (e Expression) IsTrue() bool { return e.Data.Text == "True" }

// Aborted reports whether the kernel dropped the request without running it.
func (r *ExecuteReply) Aborted() bool { return r.Status == "aborted" || r.Status == "abort" }

// ErrorContent is the content of an error.
type ErrorContent struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// Error returns "name: value".
func (e *ErrorContent) Error() string { return e.Name + ": " + e.Value }

// displayContent is the content of display_data, update_display_data and
// execute_result.
type displayContent struct {
	Data      map[string]json.RawMessage `json:"data"`
	Metadata  json.RawMessage            `json:"metadata"`
	Transient struct {
		DisplayID string `json:"display_id"`
	} `json:"transient"`
}

package jupyter

import (
	"encoding/json"
	"time"
)

// A header is the part of Jupyter's message headers that we use.
type header struct {
	ID      string `json:"msg_id"`
	Type    string `json:"msg_type"`
	Session string `json:"session"`
	User    string `json:"username"`
	Date    string `json:"date"`
	Version string `json:"version"`
}

// A message is one message of a kernel's channels. Its content is read
// separately; see frame.
type message struct {
	Channel string          `json:"channel"`
	Header  header          `json:"header"`
	Parent  header          `json:"parent_header"`
	Content json.RawMessage `json:"content"`
}

func newHeader(id, typ, session string) header {
	return header{ID: id, Type: typ, Session: session, User: "toolcell", Version: "5.3",
		Date: time.Now().UTC().Format(time.RFC3339Nano)}
}

// executeRequest is the content of an execute_request.
type executeRequest struct {
	Code         string            `json:"code"`
	Silent       bool              `json:"silent"`
	StoreHistory bool              `json:"store_history"`
	Expressions  map[string]string `json:"user_expressions"`
	AllowStdin   bool              `json:"allow_stdin"`
	StopOnError  bool              `json:"stop_on_error"`
}

// executeReply is the content of an execute_reply.
type executeReply struct {
	Status      string                `json:"status"` // ok, error, aborted or abort
	Count       int                   `json:"execution_count"`
	Name        string                `json:"ename"`
	Value       string                `json:"evalue"`
	Traceback   []string              `json:"traceback"`
	Expressions map[string]expression `json:"user_expressions"`
	Payload     []payload             `json:"payload"`
}

// expression is the outcome of a user expression.
type expression struct {
	Status string            `json:"status"`
	Data   map[string]string `json:"data"`
}

func (e expression) isTrue() bool { return e.Data["text/plain"] == "True" }

// payload is something that an execute_reply asks of its front end.
type payload struct {
	Source     string          `json:"source"`
	KeepKernel json.RawMessage `json:"keepkernel"`
}

func (r *executeReply) aborted() bool { return r.Status == "aborted" || r.Status == "abort" }

// errorContent is the content of an error.
type errorContent struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// displayContent is the content of display_data, update_display_data and
// execute_result.
type displayContent struct {
	Data      map[string]json.RawMessage `json:"data"`
	Metadata  json.RawMessage            `json:"metadata"`
	Count     int                        `json:"execution_count"`
	Transient struct {
		DisplayID string `json:"display_id"`
	} `json:"transient"`
}

package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// The messages of files.py, on the control channel.
const (
	filesRequest = "toolcell_files_request"
	filesReply   = "toolcell_files_reply"
)

// A FileRequest is one request of files.py. Names are bytes, which travel as
// base64.
type FileRequest struct {
	Op     string  `json:"op"`
	Name   []byte  `json:"name"`
	To     []byte  `json:"to,omitempty"`
	After  []byte  `json:"after"`
	Follow bool    `json:"follow"`
	All    bool    `json:"all"`
	Append bool    `json:"append"`
	Flags  string  `json:"flags"`
	Perm   uint32  `json:"perm"`
	ID     string  `json:"id,omitempty"` // of the file that is meant
	At     int64   `json:"at"`
	Size   int     `json:"size"`
	Data   []byte  `json:"data"`
	Key    string  `json:"key"`
	Limit  float64 `json:"limit"` // in seconds
	Most   int64   `json:"most"`
}

// A FileEntry describes a file as stat does.
type FileEntry struct {
	Name []byte `json:"name"`
	Mode uint32 `json:"mode"`
	Size int64  `json:"size"`
	Time int64  `json:"time"` // in nanoseconds
	ID   string `json:"id"`
}

// A FileAnswer is the answer to a FileRequest.
type FileAnswer struct {
	FileEntry
	Fault   string      `json:"fault"`
	Data    []byte      `json:"data"`
	At      int64       `json:"at"`
	After   []byte      `json:"after"`
	Entries []FileEntry `json:"entries"`
	SHA     string      `json:"sha"`
	Whole   bool        `json:"whole"`
	More    int64       `json:"more"`
	Rest    int64       `json:"rest"`
}

// HasFiles reports whether files of programs can be reached, by the kind alone.
func (k Kind) HasFiles() bool { return k.dialect.files }

// Served reports whether Files is answered: the kernel is connected, set up and
// where its context belongs. An error says that it never will be.
func (k *Kernel) Served() (bool, error) {
	connected := k.connected()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.proc == ready || k.proc == furnished {
		if !k.dialect.files {
			return false, fmt.Errorf("%w: files of kernel %q are not reached", codeinterp.ErrUnavailable, k.Kind.Name)
		}
	}
	return connected && k.proc == furnished, nil
}

// Files asks the kernel's process for something of its files. It is answered
// beside programs, which it neither waits for nor shows itself to. If ctx ends
// first, or the connection, it may have been done.
func (k *Kernel) Files(ctx context.Context, q *FileRequest) (*FileAnswer, error) {
	m, err := k.ask(ctx, "control", filesRequest, q)
	switch {
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		return nil, server.Unavailable("the kernel is busy: it did not answer")
	case errors.Is(err, errDied):
		return nil, server.Unavailable("the kernel died meanwhile")
	default:
		return nil, err
	}
	a, err := decodeFileAnswer(m.Content)
	if err != nil || !a.fits(q) {
		return nil, server.Unavailable("malformed %s", filesReply)
	}
	return a, nil
}

// filesSlack is how much longer than its own limit a request may take.
const filesSlack = 5 * time.Second

// Look is Files for what takes up to limit in the kernel's process.
func (k *Kernel) Look(ctx context.Context, q *FileRequest, limit time.Duration) (*FileAnswer, error) {
	q.Limit = limit.Seconds()
	ctx, cancel := context.WithTimeout(ctx, limit+filesSlack)
	defer cancel()
	return k.Files(ctx, q)
}

package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	var a FileAnswer
	err := k.askHelper(ctx, filesRequest, q, &a)
	switch {
	case errors.Is(err, errDied):
		return nil, server.Unavailable("the kernel died meanwhile")
	case err == nil && !a.fits(q):
		return nil, server.Unavailable("malformed %s", filesReply)
	}
	return &a, err
}

// askHelper makes a request of the helper in the kernel's process, beside programs.
func (k *Kernel) askHelper(ctx context.Context, typ string, q, answer any) error {
	m, err := k.ask(ctx, "control", typ, q)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		return server.Unavailable("the kernel is busy: it did not answer")
	case err == nil && json.Unmarshal(m.Content, answer) != nil:
		return server.Unavailable("malformed answer to %s", typ)
	}
	return err
}

const (
	// MaxFileEntries is how many entries one answer carries, PAGE in files.py.
	MaxFileEntries = 5000

	maxSHA  = 64  // the length of a hash in hexadecimal digits
	maxHead = 512 // what comes with a hash of a file's content
)

// fits reports whether an answer, which a program may have made up, has no more than was
// asked for, and names that lead nowhere else.
func (a *FileAnswer) fits(q *FileRequest) bool {
	bad := func(e FileEntry) bool {
		name := string(e.Name)
		return e.Size < 0 || q.Op == "list" && (name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"))
	}
	return len(a.Entries) <= MaxFileEntries && len(a.Data) <= max(q.Size, maxHead) && len(a.SHA) <= maxSHA &&
		min(a.Size, a.At, a.More, a.Rest) >= 0 && !slices.ContainsFunc(a.Entries, bad)
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

//go:build unix

package subprocess

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// TestCompleteUnasked: a question that was not put is no question that is open.
func TestCompleteUnasked(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{sb: new(sandbox.Process), ctl: w, raw: raw, gone: make(chan struct{})}
	s := &session{p: p, lang: &language{Language: Language{Driver: new(Driver)}}}
	p.writing.Lock()
	if _, err := new(host).Complete(ctx, s, "a", 1); !errors.Is(err, codeinterp.ErrCapacity) {
		t.Errorf("of one that reads nothing: %v", err)
	}
	p.writing.Unlock()
	var driver sync.WaitGroup
	driver.Go(func() {
		f, err := readFrame(r, anyRoom)
		if err == nil {
			err = p.completed(&frame{kind: frameCompleted, fields: [][]byte{f.field(0), []byte("0"), []byte("1"), []byte("abc")}})
		}
		if err != nil {
			t.Error(err)
		}
	})
	if c, err := new(host).Complete(ctx, s, "a", 1); err != nil || c.Matches[0] != "abc" {
		t.Errorf("after it: %+v, %v", c, err)
	}
	w.Close() // nothing is read any more
	driver.Wait()
}

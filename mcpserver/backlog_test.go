package mcpserver_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAnswersThatNobodyReads: a client that does not take its answers is not read
// any further, until it does. Each request is answered then.
func TestAnswersThatNobodyReads(t *testing.T) {
	for _, tt := range []struct {
		name     string
		id       string // of requests, with their number
		all, atm int    // how many are sent, and read while none is answered
	}{
		{"small requests", "%d", 5000, 1000 + 64<<10/40 + 10},
		{"long ids", "\"%0100000d\"", 500, 32<<20/100_000 + 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, newFake(), nil)
			inR, in := io.Pipe()
			out, outW := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- s.ServeStream(t.Context(), inR, outW); outW.Close() }()
			var sent atomic.Int64
			go func() {
				fmt.Fprintln(in, initialize)
				fmt.Fprintln(in, initialized)
				for i := range tt.all { // no id is that of initialize, which may wait still
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":`+tt.id+`,"method":"ping"}`+"\n", 10+i)
					sent.Add(1)
				}
			}()
			answers := bufio.NewReaderSize(out, 1<<20)
			if _, err := answers.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			n, still := int64(-1), 0
			for ; still < 30; time.Sleep(10 * time.Millisecond) {
				if was := n; was == sent.Load() {
					still++
				} else {
					n, still = sent.Load(), 0
				}
			}
			if n > int64(tt.atm) {
				t.Errorf("%d requests were read while none was answered", n)
			}
			n = 0
			for n < int64(tt.all) {
				line, err := answers.ReadString('\n')
				if err != nil {
					t.Fatalf("after %d answers: %v", n, err)
				}
				if strings.Contains(line, `"result"`) {
					n++
				}
			}
			in.Close()
			go io.Copy(io.Discard, answers)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

package mcptools

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// TestWeighedBody: what is counted does not depend on how the bytes come, and what
// stands between events cannot hide them.
func TestWeighedBody(t *testing.T) {
	many := strings.Repeat(",", maxMembers)
	for _, tt := range []struct {
		name, body string
		stream     bool
		want       error
	}{
		{"as many as may be", "[" + many[1:] + "]", false, nil},
		{"too many", "[" + many + "]", false, errMembers},
		{"in a string", `["` + many + `\\\"` + many + `"]`, false, nil},
		{"many events", strings.Repeat("data: ["+many[:maxLight/2]+"]\n\ndata: ["+many[:maxLight/2]+"]\r\n\r\n", 20) + "data: [" + many[1:] + "]\n\n", true, nil},
		{"one event in lines", "data: [" + many[1:] + "\ndata: ,]\n\n", true, errMembers},
		{"empty lines in what is no stream", "[" + many[1:] + "\n\n,]", false, errMembers},
		{"behind a quote of a comment", ": \"\ndata: [" + many + "]\n\n", true, errMembers},
		{"behind one that ends with CR", ": \"\rdata: [" + many + "]\n\n", true, errMembers},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(tt.body), "halves": iotest.HalfReader(strings.NewReader(tt.body))} {
			b := &weighedBody{ReadCloser: io.NopCloser(r), stream: tt.stream}
			if _, err := io.Copy(io.Discard, b); !errors.Is(err, tt.want) {
				t.Errorf("%s, %s: %v, want %v", tt.name, name, err, tt.want)
			}
		}
	}
}

// TestOneLargeMessage: answers to others cannot come by a request's stream, nor by
// that of no request.
func TestOneLargeMessage(t *testing.T) {
	large, small := "data: "+strings.Repeat("x", maxLight)+"\n\n", "data: x\n\n"
	for _, tt := range []struct {
		name, body string
		light      bool
		want       error
	}{
		{"one", small + large + strings.Repeat(small, maxLight), false, nil},
		{"two", large + small + large, false, errMore},
		{"small ones", strings.Repeat(small, maxLight), true, nil},
		{"no request's", small + large, true, errMore},
	} {
		for _, by := range []*caller{nil, {room: &room{}, done: make(chan struct{})}} {
			b := &weighedBody{ReadCloser: io.NopCloser(strings.NewReader(tt.body)), by: by, stream: true, light: tt.light}
			if _, err := io.Copy(io.Discard, b); !errors.Is(err, tt.want) || by != nil && by.refused() != tt.want {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		}
	}
}

// TestWeighedBodyWaits: a large answer is read when there is room for it, and not at
// all once nobody waits for it.
func TestWeighedBodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r room
		read := func(c *caller, size int) <-chan error {
			got := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, &weighedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), by: c})
				got <- err
			}()
			synctest.Wait()
			return got
		}
		newCaller := func() *caller { return &caller{room: &r, done: make(chan struct{})} }
		first, second, third := newCaller(), newCaller(), newCaller()
		if err := <-read(first, 2*maxLight); err != nil {
			t.Error(err)
		}
		if err := <-read(newCaller(), maxLight); err != nil || r.Used() == 0 {
			t.Errorf("a small one: %v, %d", err, r.Used())
		}
		waits, unwanted := read(second, 2*maxLight), read(third, 2*maxLight)
		if len(waits)+len(unwanted) > 0 {
			t.Error("there was room")
		}
		third.end()
		if err := <-unwanted; !errors.Is(err, errUnwanted) {
			t.Error(err)
		}
		first.end()
		if err := <-waits; err != nil {
			t.Error(err)
		}
		if second.end(); r.Used() != 0 {
			t.Errorf("%d bytes are left", r.Used())
		}
	})
}

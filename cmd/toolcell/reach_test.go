package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// TestClosedPort: a server that does not listen is reported within seconds.
func TestClosedPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	start := time.Now()
	code, _, stderr := toolcell(t.Context(), "", "run", "--url", "http://"+address+"/", "-e", "1")
	if code != 1 || !strings.Contains(stderr, "nothing listens at "+address) || time.Since(start) > 20*time.Second {
		t.Errorf("code %d after %v, stderr %q", code, time.Since(start), stderr)
	}
}

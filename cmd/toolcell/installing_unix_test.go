//go:build real

package main

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestInstalling: only a terminal shows that packages are installed.
func TestInstalling(t *testing.T) {
	old := installingAfter
	installingAfter = time.Millisecond
	defer func() { installingAfter = old }()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer tty.Close()
	done := (&app{stderr: tty}).installing([]string{"pandas", "six"})
	line, err := bufio.NewReader(screen).ReadString('\n')
	if done(); err != nil || line != "toolcell: installing pandas, six ...\r\n" {
		t.Errorf("%q, %v", line, err)
	}
	var b bytes.Buffer
	(&app{stderr: &b}).installing([]string{"six"})()
	if b.Len() > 0 {
		t.Errorf("%q", &b)
	}
}

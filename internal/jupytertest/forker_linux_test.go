package jupytertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// limit is how long anything here may take, on a busy machine.
const limit = 2 * time.Minute

// TestForker: a stub that says what nobody understands, or leaves, costs the other
// stubs nothing.
func TestForker(t *testing.T) {
	bin := filepath.Dir(program(t))
	_, dir := forks(t, bin, []string{"PATH=" + bin})
	socket := forkerSocket(dir)
	signaled := dial(t, socket)
	fmt.Fprintf(signaled, "%c {}\n", syscall.SIGINT) // which came before its request was sent
	if n, err := signaled.Read(make([]byte, 8)); err != io.EOF {
		t.Errorf("%d bytes, %v, want the end", n, err)
	}
	for number := range 3 {
		first := ask(t, socket, 2*number)
		kernel := kernelOf(t, socket, 2*number)
		first.Close()
		time.Sleep(time.Millisecond) // until its socket's number is free, and its kernel is not yet gone
		second := ask(t, socket, 2*number+1)
		for end := time.Now().Add(limit); syscall.Kill(kernel, 0) == nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		kernelOf(t, socket, 2*number+1)
		if err := second.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		status := make([]byte, 8)
		if n, err := second.Read(status); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q, %v for a kernel that lives", status[:n], err)
		}
		if err := second.SetReadDeadline(time.Now().Add(limit)); err != nil {
			t.Fatal(err)
		}
		_, _ = second.Write([]byte{byte(syscall.SIGKILL)})
		if n, _ := second.Read(status); string(status[:n]) != "-9" {
			t.Errorf("%q for a kernel that was killed", status[:n])
		}
	}
}

// dial connects to what forks, once it listens.
func dial(t *testing.T, socket string) *net.UnixConn {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			if err := conn.SetDeadline(end); err != nil {
				t.Fatal(err)
			}
			return conn
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// ask asks for a kernel, as a stub of this number does.
func ask(t *testing.T, socket string, number int) *net.UnixConn {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	request, err := json.Marshal(map[string]any{"stub": number, "env": map[string]string{"HOME": filepath.Dir(socket)}, "cwd": "/",
		"argv": []string{"stub.py", "-f", fmt.Sprintf("%s.%d.json", socket, number)}})
	if err != nil {
		t.Fatal(err)
	}
	conn, fd := dial(t, socket), int(null.Fd())
	if _, _, err := conn.WriteMsgUnix(append(request, '\n'), syscall.UnixRights(fd, fd, fd), nil); err != nil {
		t.Fatal(err)
	}
	return conn
}

// kernelOf waits for the kernel of a stub, and returns its process.
func kernelOf(t *testing.T, socket string, stub int) int {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		data, _ := os.ReadFile(fmt.Sprintf("%s.%d", socket, stub))
		if pid, err := strconv.Atoi(string(data)); err == nil {
			return pid
		}
	}
	t.Fatalf("stub %d has no kernel", stub)
	return 0
}

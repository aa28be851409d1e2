package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const key = Key("00000000000000000000000000000000")

func openPlace(t *testing.T) *Place {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Open(func(string) string { return dir })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// keep has a keeper in this process, which can be ended.
func keep(t *testing.T, p *Place, change func(*Service)) (stop func()) {
	t.Helper()
	own, err := Standing()
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{
		Own: own, Idle: time.Minute, Check: func() error { return nil }, Leave: func() {},
		Admit: func(*Order, *os.File) error { return nil },
		Serve: func(_ context.Context, order *Order, s Streams) int {
			b, _ := io.ReadAll(s.In)
			if _, err := fmt.Fprintf(s.Out, "%s %s", order.Args, b); err != nil {
				fmt.Fprint(s.Err, err)
				return 2
			}
			return 7
		},
	}
	change(s)
	l, err := p.Hold(key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		err := l.Serve(ctx, s)
		l.Drop()
		done <- err
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if conn, err := p.dial(key); err == nil {
			conn.Close()
			break
		}
	}
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(p.dir.Name()); len(left) > 0 {
			t.Errorf("left is %v", left)
		}
	}
	return stop
}

// call has the keeper serve one.
func call(t *testing.T, p *Place, in string, out io.Writer) (code int, said string, err error) {
	t.Helper()
	own, err := Standing()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Offer(key, own, &Order{Args: []string{"a", "b"}})
	if err != nil {
		return 0, "", err
	}
	var errs bytes.Buffer
	code, err = c.Run(t.Context(), Streams{In: strings.NewReader(in), Out: out, Err: &errs})
	return code, errs.String(), err
}

func TestCall(t *testing.T) {
	p := openPlace(t)
	defer keep(t, p, func(*Service) {})()
	for _, in := range []string{"", "text", strings.Repeat("long ", 100_000)} {
		var out bytes.Buffer
		if code, said, err := call(t, p, in, &out); code != 7 || said != "" || err != nil || out.String() != "[a b] "+in {
			t.Errorf("%d, %q, %v, %.50q", code, said, err, out.String())
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if code, said, err := call(t, p, "", full); code != 2 || err != nil || said != "write /dev/full: no space left on device" {
		t.Errorf("%d, %q, %v", code, said, err)
	}
}

// TestHostileCallers: whoever is no caller is sent away, and keeps nobody else from
// being served.
func TestHostileCallers(t *testing.T) {
	p := openPlace(t)
	defer keep(t, p, func(*Service) {})()
	open := func(name string, flags int) *os.File {
		file, err := os.OpenFile(name, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	lock := filepath.Join(p.dir.Name(), lockOf(key))
	dir, writable, readable := open(".", os.O_RDONLY), open(lock, os.O_RDWR), open(lock, os.O_RDONLY)
	other := open(os.DevNull, os.O_RDWR)
	for name, tt := range map[string]struct {
		files []*os.File
		first string
		rest  string
	}{
		"says nothing":           {nil, "", ""},
		"says something else":    {nil, "GET / HTTP/1.1\r\n\r\n", ""},
		"shows nothing":          {nil, "Q", "\x00\x00\x00\x03Q{}"},
		"reads only":             {[]*os.File{dir, readable}, "Q", "\x00\x00\x00\x03Q{}"},
		"shows another file":     {[]*os.File{dir, other}, "Q", "\x00\x00\x00\x03Q{}"},
		"shows too much":         {[]*os.File{dir, writable, writable, writable, writable, writable, writable, writable, writable, writable}, "Q", "\x00\x00\x00\x03Q{}"},
		"asks for gigabytes":     {[]*os.File{dir, writable}, "Q", "\xff\xff\xff\xffQ"},
		"asks for nothing":       {[]*os.File{dir, writable}, "Q", "\x00\x00\x00\x00"},
		"makes no sense":         {[]*os.File{dir, writable}, "Q", "\x00\x00\x00\x04Q[]]"},
		"asks and never says go": {[]*os.File{dir, writable}, "Q", "\x00\x00\x00\x03Q{}"},
		"asks and says stop":     {[]*os.File{dir, writable}, "Q", "\x00\x00\x00\x03Q{}\x00\x00\x00\x01C"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := p.dial(key)
			if err != nil {
				t.Fatal(err)
			}
			var fds []int
			for _, f := range tt.files {
				fds = append(fds, int(f.Fd()))
			}
			if tt.first != "" {
				if _, _, err := conn.WriteMsgUnix([]byte(tt.first), unix.UnixRights(fds...), nil); err != nil {
					t.Fatal(err)
				}
				_, _ = conn.Write([]byte(tt.rest))
			}
			if name != "asks and never says go" {
				_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
				if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("it is still heard")
				}
			}
			conn.Close()
		})
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		var out bytes.Buffer
		code, _, err := call(t, p, "", &out)
		if code == 7 && err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d, %v", code, err)
		}
	}
}

// TestOtherRights: callers that may do more or less are not served.
func TestOtherRights(t *testing.T) {
	p := openPlace(t)
	defer keep(t, p, func(s *Service) { s.Own += " and more" })()
	if _, _, err := call(t, p, "", io.Discard); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "other rights") {
		t.Error(err)
	}
	if _, err := p.Offer(key, "none", &Order{}); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("a caller takes any keeper: %v", err)
	}
}

// TestHostileKeepers: what is no keeper holds a caller up for a moment only.
func TestHostileKeepers(t *testing.T) {
	for name, answer := range map[string]func(net.Conn){
		"hangs": func(net.Conn) {}, "leaves": func(c net.Conn) { c.Close() }, "talks": func(c net.Conn) { io.WriteString(c, strings.Repeat("x", 1000)) },
		"talks a lot": func(c net.Conn) { io.WriteString(c, "\x7f\xff\xff\xffY") },
	} {
		t.Run(name, func(t *testing.T) {
			p := openPlace(t)
			l, err := p.Hold(key)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Drop()
			if err := l.listen(); err != nil {
				t.Fatal(err)
			}
			go func() {
				if c, err := l.ln.Accept(); err == nil {
					t.Cleanup(func() { c.Close() })
					answer(c)
				}
			}()
			if _, _, err := call(t, p, "", io.Discard); err == nil || errors.Is(err, ErrNone) {
				t.Error(err)
			}
		})
	}
}

// TestCrashed: what a keeper has left that was killed is in nobody's way.
func TestCrashed(t *testing.T) {
	p := openPlace(t)
	own, _ := Standing()
	if _, err := p.Offer(key, own, &Order{}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	l, err := p.Hold(key)
	if err != nil || l.listen() != nil {
		t.Fatal(err)
	}
	if _, err := p.try(key); !errors.Is(err, ErrKept) {
		t.Errorf("a second keeper: %v", err)
	}
	l.ln.Close()
	l.file.Close()
	if _, err := p.Offer(key, own, &Order{}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if n := p.Sweep("other"); n != 0 || len(p.keys()) != 0 {
		t.Errorf("%d, %q", n, p.keys())
	}
	defer keep(t, p, func(*Service) {})()
	if code, _, err := call(t, p, "", io.Discard); code != 7 || err != nil {
		t.Error(code, err)
	}
}

func TestErrorsCross(t *testing.T) {
	for _, err := range []error{nil, io.EOF, syscall.EPIPE, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, errors.New("odd")} {
		got := unpack(pack(err))
		if fmt.Sprint(got) != fmt.Sprint(err) {
			t.Errorf("%v became %v", err, got)
		}
		if n, ok := errors.AsType[syscall.Errno](err); ok && !errors.Is(got, n) {
			t.Errorf("%v is not %v", got, n)
		}
	}
	if unpack([]byte("{")) == nil {
		t.Error("nonsense is no error")
	}
}

package frames

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func anyRoom(int) (func(), error) { return func() {}, nil }

// TestRoom: only a large frame takes room, and gives it back once.
func TestRoom(t *testing.T) {
	room := NewRoom()
	take := func(n int) (func(), error) {
		if !room.TryAcquire(int64(n)) {
			return nil, io.ErrShortBuffer
		}
		return func() { room.Release(int64(n)) }, nil
	}
	large := Encode(Show, strings.Repeat("x", maxFrame-100))
	first, err := Read(bytes.NewReader(large), take)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Read(bytes.NewReader(large), take)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read(bytes.NewReader(large), take); !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("a third frame: %v", err)
	}
	if _, err := Read(bytes.NewReader(Encode(Show, strings.Repeat("x", step-100))), take); err != nil {
		t.Errorf("a small one: %v", err)
	}
	second.Release()
	if _, err := Read(bytes.NewReader(large[:len(large)-1]), take); err == nil {
		t.Error("a frame that is cut off was read")
	}
	first.Release()
	first.Release()
	if !room.TryAcquire(2 * maxFrame) {
		t.Error("room is kept")
	}
}

func TestFrame(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	b := Encode(Run, "1", "", long, "é\n")
	f, err := Read(bytes.NewReader(b), anyRoom)
	if err != nil || f.Kind != Run || len(f.fields) != 4 || f.Number(0) != 1 || string(f.Field(2)) != long || string(f.Field(3)) != "é\n" || f.Field(9) != nil {
		t.Errorf("got %c, %d fields, %v", f.Kind, len(f.fields), err)
	}
	for name, in := range map[string]string{
		"no length":     "zzzzzzzz",
		"capitals":      "0000000AZ",
		"empty":         "00000000",
		"too long":      "ffffffff",
		"field outside": "00000009Z000000ff",
		"cut field":     "00000003Z00",
	} {
		if _, err := Read(strings.NewReader(in), anyRoom); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{"cut length": "0000", "cut frame": "00000010Z", "cut long frame": "03000000Zxxx", "cut where a step ends": "03000000" + strings.Repeat("x", step), "only a length": "00000010"} {
		if _, err := Read(strings.NewReader(in), anyRoom); err == nil || err == io.EOF || errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{"nothing": "", "cut call": "00000010Q", "cut long call": "03000000Q" + strings.Repeat("x", step-1)} {
		if _, err := Read(strings.NewReader(in), anyRoom); err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A timed reader notes its deadlines.
type timed struct {
	io.Reader
	deadlines []time.Time
}

func (r *timed) SetReadDeadline(at time.Time) error {
	r.deadlines = append(r.deadlines, at)
	return nil
}

// TestFrameDeadline: a frame that has begun has to end; the next one may wait.
func TestFrameDeadline(t *testing.T) {
	r := &timed{Reader: strings.NewReader(string(Encode(Hello, "x")) + "0000")}
	if _, err := Read(r, anyRoom); err != nil || len(r.deadlines) != 2 || r.deadlines[0].IsZero() || !r.deadlines[1].IsZero() {
		t.Errorf("deadlines %v, %v", r.deadlines, err)
	}
	if _, err := Read(r, anyRoom); err == nil || len(r.deadlines) != 2 {
		t.Errorf("before a frame: deadlines %v, %v", r.deadlines, err)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add(Encode(Show, "1", "2", "display", "", "{}", "1", "text/plain", "x"))
	f.Add(Encode(Done, "1", "error", "1", "E", "m", "3", "", "a\nb"))
	f.Add([]byte("0000000aZ00000001x"))
	f.Add([]byte("00000001\xb0"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		got, err := Read(r, anyRoom)
		if err != nil {
			return
		}
		var fields []string
		for _, b := range got.fields {
			fields = append(fields, string(b))
		}
		if used := len(in) - r.Len(); !bytes.Equal(Encode(got.Kind, fields...), in[:used]) {
			t.Errorf("%q does not survive", in[:used])
		}
		_, _ = DecodeShow(&got)
		_, _ = DecodeReport(&got)
	})
}

package subprocess

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFrame(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	b := encode(frameRun, "1", "", long, "é\n")
	f, err := readFrame(bytes.NewReader(b))
	if err != nil || f.kind != frameRun || len(f.fields) != 4 || f.number(0) != 1 || string(f.field(2)) != long || string(f.field(3)) != "é\n" || f.field(9) != nil {
		t.Errorf("got %c, %d fields, %v", f.kind, len(f.fields), err)
	}
	for name, in := range map[string]string{
		"no length":     "zzzzzzzz",
		"capitals":      "0000000AZ",
		"empty":         "00000000",
		"too long":      "ffffffff",
		"field outside": "00000009Z000000ff",
		"cut field":     "00000003Z00",
	} {
		if _, err := readFrame(strings.NewReader(in)); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]string{"cut length": "0000", "cut frame": "00000010Z", "cut long frame": "03000000Zxxx"} {
		if _, err := readFrame(strings.NewReader(in)); err == nil || errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readFrame(strings.NewReader("")); err != io.EOF {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add(encode(frameShow, "1", "2", "display", "", "{}", "1", "text/plain", "x"))
	f.Add(encode(frameDone, "1", "error", "1", "E", "m", "3", "", "a\nb"))
	f.Add([]byte("0000000aZ00000001x"))
	f.Add([]byte("00000001\xb0"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		got, err := readFrame(r)
		if err != nil {
			return
		}
		var fields []string
		for _, b := range got.fields {
			fields = append(fields, string(b))
		}
		if used := len(in) - r.Len(); !bytes.Equal(encode(got.kind, fields...), in[:used]) {
			t.Errorf("%q does not survive", in[:used])
		}
		_, _ = decodeShow(&got)
		_, _ = decodeReport(&got)
	})
}

func FuzzSourceMap(f *testing.F) {
	f.Add([]byte(`{"mappings":"AAAA;;EACE,GAAG;ADDA"}`), 3, 4)
	f.Fuzz(func(t *testing.T, in []byte, line, column int) {
		parseSourceMap(in).original(line, column)
	})
}

func TestSourceMap(t *testing.T) {
	p := eraseTypes("interface A {}\n\nenum E { X }\nconst f = (a: A): never => {\n  throw a\n}\nf(E.X)")
	if p.failed != nil {
		t.Fatal(p.failed)
	}
	lines := strings.Split(p.code, "\n")
	for n, line := range lines {
		if i := strings.Index(line, "throw"); i >= 0 {
			if at, _ := p.lines.original(n+1, i+1); at != 5 {
				t.Errorf("throw is in line %d, want 5", at)
			}
		}
		if strings.HasPrefix(line, "f(") {
			if at, column := p.lines.original(n+1, 1); at != 7 || column != 1 {
				t.Errorf("the call is at %d:%d, want 7:1", at, column)
			}
		}
	}
}

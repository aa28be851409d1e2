package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

func v1Frame(parts ...string) []byte {
	n := len(parts) + 1
	b := binary.LittleEndian.AppendUint64(nil, uint64(n))
	off := uint64(8 * (1 + n))
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, off)
		off += uint64(len(p))
	}
	b = binary.LittleEndian.AppendUint64(b, off)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// FuzzFrame feeds every kind of frame: none may panic or take more than it
// was given.
func FuzzFrame(f *testing.F) {
	f.Add(v1Frame("iopub", `{"msg_id":"1","msg_type":"stream"}`, "{}", "{}", `{"name": "stdout", "text": "x"}`), true, true)
	f.Add(v1Frame("shell", "{}", "{}", "{}", "{}", "buffer"), true, true)
	f.Add([]byte(`{"header":{"msg_id":"1"},"content":{}}`), false, false)
	f.Add(append([]byte{0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 14}, "{}binary"...), true, false)
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, true, true)
	f.Fuzz(func(t *testing.T, data []byte, isBinary, v1 bool) {
		frame, err := wire.ReadFrame(isBinary, bytes.NewReader(data), v1, 1<<16)
		if err != nil {
			return
		}
		if content, err := frame.Content(1 << 16); err == nil && len(content) > len(data) {
			t.Errorf("%d bytes of content in a frame of %d", len(content), len(data))
		}
	})
}

// FuzzStreamText compares the piecewise decoder with encoding/json.
func FuzzStreamText(f *testing.F) {
	for _, s := range []string{"", "x", "a\nb\t\"\\/\b\f\r", "é日🙂", "\u2028\x00\x7f"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, _ int) {
		if !utf8.ValidString(text) {
			return
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		content := []byte(`{"name": "stdout", "text": ` + string(quoted) + `}`)
		got, err := decodeStream(content)
		if err != nil || got != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	})
}

// FuzzStreamBytes feeds contents of any form.
func FuzzStreamBytes(f *testing.F) {
	f.Add([]byte(`{"name": "stdout", "text": "\ud83d\ude42\udcff\ud800x"}`))
	f.Add([]byte(`{"text": "x", "name": "stderr"}`))
	f.Add([]byte(`{"name": "stdout", "text": "\u12`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if got, err := decodeStream(content); err == nil && len(got) > 3*len(content) {
			t.Errorf("%d bytes of %d", len(got), len(content))
		}
	})
}

func decodeStream(content []byte) (string, error) {
	var b bytes.Buffer
	r := iotest.OneByteReader(bytes.NewReader(content))
	err := wire.StreamText(r, int64(len(content)), 1<<20, func(_ string, p []byte) { b.Write(p) })
	return b.String(), err
}

func TestStreamEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`\ud83d\ude42`: "🙂", `\udcc3\udca9`: "é", `\udcff`: "\xff", `\ud800x`: "\ufffdx", `\ud800\n`: "\ufffd\n",
		`\ud800`: "\ufffd", `\u00e9\/\"`: `é/"`, "raw \xff": "raw \xff",
	} {
		got, err := decodeStream([]byte(`{"name": "stdout", "text": "` + in + `"}`))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
	long := bytes.Repeat([]byte(`\ud83d\ude42\n`), 20000)
	got, err := decodeStream([]byte(`{"name": "stderr", "text": "` + string(long) + `"}`))
	if err != nil || len(got) != 100000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestErrorLines(t *testing.T) {
	cases := []struct {
		traceback []string
		count     int
		want      int
	}{
		{[]string{"Cell In[3], line 7", "----> 7 f()", "Cell In[3], line 2, in f()"}, 3, 2},
		{[]string{"Cell In[3], line 7", "----> 7 f()", "Cell In[2], line 9, in f()"}, 3, 7},
		{[]string{"Cell In [5], line 1", "----> 1 1/0"}, 5, 1},
		{[]string{"  + Exception Group Traceback (most recent call last):", "  |   Cell In[5], line 3, in <module>", "  | ExceptionGroup: g (1 sub-exception)", "  +-+---- 1 ----", "    |   Cell In[5], line 2, in <module>"}, 5, 3},
		{[]string{"nothing"}, 1, 0},
	}
	for _, c := range cases {
		if e, _ := wire.NewProgramError(&wire.ErrorContent{Traceback: c.traceback}, c.count); e.Line != c.want {
			t.Errorf("%q: line %d, want %d", c.traceback, e.Line, c.want)
		}
	}
}

// TestSyntaxMessages wants no name of a cell's file in the message.
func TestSyntaxMessages(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"SyntaxError", "invalid syntax (1278102326.py, line 1)", "invalid syntax"},
		{"IndentationError", "unexpected indent (<string>, line 12)", "unexpected indent"},
		{"SyntaxError", "'(' was never closed", "'(' was never closed"},
		{"ValueError", "mine (x.py, line 1)", "mine (x.py, line 1)"},
	} {
		if e, _ := wire.NewProgramError(&wire.ErrorContent{Name: c.name, Value: c.value}, 1); e.Message != c.want {
			t.Errorf("%s: %q: %q, want %q", c.name, c.value, e.Message, c.want)
		}
	}
}

func TestMissingModules(t *testing.T) {
	for value, want := range map[string]string{
		"No module named 'a.b'": "a.b", "No module named 'os.a'; 'os' is not a package": "os.a", "No module named 'a' here": "",
	} {
		if e, _ := wire.NewProgramError(&wire.ErrorContent{Name: "ModuleNotFoundError", Value: value}, 1); e.MissingModule != want {
			t.Errorf("%q: %q, want %q", value, e.MissingModule, want)
		}
	}
}

// FuzzPrompt reads what programs send in place of calls: it takes what it was
// given at most, and no more calls than there may be.
func FuzzPrompt(f *testing.F) {
	for _, s := range []string{`{"epoch":1,"calls":[[1,"f",{"a":[1]}],[2,"g",null]]}`, `{"calls":[[1]]}`, `{"calls":{}}`, `{"calls":[[]`, "", "7",
		`{"calls":[` + strings.Repeat("[],", wire.MaxPromptCalls) + "[]]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		content, err := json.Marshal(map[string]any{"prompt": "nonce:" + text})
		if err != nil {
			t.Fatal(err)
		}
		p, ours, err := wire.ParsePrompt(content, "nonce:")
		if !ours || err == nil && (len(p.Calls) > wire.MaxPromptCalls || p.Size > 3*len(text)) {
			t.Errorf("%q: %t, %+v, %v", text, ours, p, err)
		}
		if _, ours, _ := wire.ParsePrompt(content, "other:"); ours {
			t.Errorf("%q is taken for another's", text)
		}
	})
}

// FuzzCut puts the pieces of a text together again.
func FuzzCut(f *testing.F) {
	f.Add("aé日🙂", 1)
	f.Add("x\xff\x80\x80", 2)
	f.Fuzz(func(t *testing.T, text string, max int) {
		max = 1 + max&0xff
		all := ""
		for head, rest := wire.Cut(text, max); ; head, rest = wire.Cut(rest, max) {
			if all += head; utf8.ValidString(text) && (!utf8.ValidString(head) || len(head) > max+utf8.UTFMax) {
				t.Errorf("%q of at most %d bytes", head, max)
			}
			if rest == "" {
				break
			}
		}
		if all != text {
			t.Errorf("%q of %q", all, text)
		}
	})
}

package driver_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

func finish(c *driver.Output) codeinterp.Result {
	var res codeinterp.Result
	c.Finish(&res)
	return res
}

func TestDoesNotKeepTheCallersBuffer(t *testing.T) {
	var live []codeinterp.Output
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(o codeinterp.Output) error {
		live = append(live, o)
		return nil
	}})
	buf := []byte("aaaa")
	c.Write(codeinterp.Stdout, buf)
	copy(buf, "bbbb")
	c.Write(codeinterp.Stdout, buf)
	copy(buf, "cccc")
	if res := finish(c); res.Stdout() != "aaaabbbb" || string(live[0].Data) != "aaaa" || string(live[1].Data) != "bbbb" {
		t.Errorf("%q, live %q", res.Stdout(), live[0].Data)
	}
}

func TestChunksKeepRunesWhole(t *testing.T) {
	const text = "aé日😀z"
	var live []string
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(o codeinterp.Output) error {
		live = append(live, string(o.Data))
		return nil
	}})
	for i := range len(text) {
		c.Write(codeinterp.Stdout, []byte{text[i]})
		c.Write(codeinterp.Stderr, []byte{0xff})
	}
	res := finish(c)
	if res.Stdout() != text || res.Stderr() != strings.Repeat("\xff", len(text)) {
		t.Errorf("%q %q", res.Stdout(), res.Stderr())
	}
	for _, s := range live {
		if s != "\xff" && !utf8.ValidString(s) {
			t.Errorf("chunk %q is cut", s)
		}
	}
}

func TestDisplayIsKeptWholeOrDropped(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	c.Write(codeinterp.Stdout, []byte("before"))
	c.Add(codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{{MIME: "image/png", Data: make([]byte, 2000)}}})
	c.Write(codeinterp.Stdout, []byte("after"))
	res := finish(c)
	want := codeinterp.Truncation{Stream: "display", Bytes: 2000, Kept: 0, Reason: codeinterp.TruncatedByLimit}
	if res.Stdout() != "beforeafter" || len(res.Truncated) != 1 || res.Truncated[0] != want {
		t.Errorf("%q, %+v", res.Stdout(), res.Truncated)
	}
}

func display(id, text string, update bool) codeinterp.Output {
	return codeinterp.Output{Kind: codeinterp.Display, DisplayID: id, Update: update,
		Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte(text)}}}
}

func TestUpdatesAndClears(t *testing.T) {
	var live []string
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(o codeinterp.Output) error {
		live = append(live, o.Kind.String()+":"+o.Text())
		return nil
	}})
	c.Write(codeinterp.Stdout, []byte("gone"))
	c.Add(codeinterp.Output{Kind: codeinterp.Clear})
	c.Add(display("a", "1", false))
	c.Add(display("b", "x", false))
	c.Add(display("a", "2", true))
	c.Add(display("other run's", "y", true))
	c.Add(codeinterp.Output{Kind: codeinterp.Clear, Wait: true})
	res := finish(c)
	var got []string
	for _, o := range res.Outputs {
		got = append(got, o.DisplayID+"="+o.Text())
	}
	if s := strings.Join(got, " "); s != "a=2 b=x other run's=y" {
		t.Errorf("kept %s", s)
	}
	if len(live) != 7 {
		t.Errorf("live %q", live)
	}
}

func TestClearWait(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	c.Write(codeinterp.Stdout, []byte("50%"))
	c.Add(codeinterp.Output{Kind: codeinterp.Clear, Wait: true})
	c.Write(codeinterp.Stdout, []byte("100%"))
	if res := finish(c); res.Stdout() != "100%" {
		t.Errorf("%q", res.Stdout())
	}
}

func TestCallbackErrorsAndPanics(t *testing.T) {
	boom := errors.New("boom")
	n := 0
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(codeinterp.Output) error {
		if n++; n%2 == 0 {
			panic("at the disco")
		}
		return boom
	}})
	for range 30 {
		c.Write(codeinterp.Stdout, []byte("x"))
	}
	res := finish(c)
	if res.Stdout() != strings.Repeat("x", 30) || n != 30 {
		t.Errorf("%d calls, kept %q", n, res.Stdout())
	}
	if !errors.Is(res.CallbackErr, boom) || !strings.Contains(res.CallbackErr.Error(), "disco") || !strings.Contains(res.CallbackErr.Error(), "20 more") {
		t.Errorf("CallbackErr = %v", res.CallbackErr)
	}
}

func TestLateIsNotJoined(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	c.Add(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte("late"), Late: true})
	c.Write(codeinterp.Stdout, []byte("now"))
	if res := finish(c); len(res.Outputs) != 2 || !res.Outputs[0].Late || res.Stdout() != "now" {
		t.Errorf("%+v", res.Outputs)
	}
}

func TestLost(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000})
	tr := codeinterp.Truncation{Stream: "stdout", Bytes: -1, Reason: codeinterp.TruncatedByRate}
	c.Lost(tr)
	c.Lost(tr)
	if res := finish(c); len(res.Truncated) != 1 || res.Truncated[0] != tr {
		t.Errorf("%+v", res.Truncated)
	}
}

// FuzzCollector checks against a plain buffer: what is kept is a head and a
// tail of what came in, the loss is counted, nothing exceeds the limit.
func FuzzCollector(f *testing.F) {
	f.Add([]byte("hello, 日本 world"), uint16(10), uint8(3))
	f.Add(bytes.Repeat([]byte("é"), 100), uint16(33), uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, limit uint16, chunk uint8) {
		if limit == 0 || chunk == 0 {
			return
		}
		var live []byte
		c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: int(limit), OnOutput: func(o codeinterp.Output) error {
			live = append(live, o.Data...)
			return nil
		}})
		for p := data; len(p) > 0; {
			n := min(int(chunk), len(p))
			c.Write(codeinterp.Stdout, p[:n])
			p = p[n:]
		}
		res := finish(c)
		if !bytes.Equal(live, data) {
			t.Fatalf("live %q, want %q", live, data)
		}
		var kept, dropped int64
		for _, o := range res.Outputs {
			kept += int64(len(o.Data))
			dropped += o.Dropped
		}
		switch {
		case len(data) <= int(limit):
			if res.Stdout() != string(data) || res.Truncated != nil {
				t.Fatalf("%q became %q, %v", data, res.Stdout(), res.Truncated)
			}
		case kept > int64(limit):
			t.Fatalf("kept %d, limit %d", kept, limit)
		case len(res.Truncated) != 1 || res.Truncated[0].Bytes != int64(len(data)) || res.Truncated[0].Kept != kept:
			t.Fatalf("kept %d of %d: %+v", kept, len(data), res.Truncated)
		case len(res.Outputs) > 0 && !bytes.HasPrefix(data, res.Outputs[0].Data) && !bytes.HasSuffix(data, res.Outputs[0].Data):
			t.Fatalf("%q is no head of %q", res.Outputs[0].Data, data)
		case dropped > int64(len(data)):
			t.Fatalf("dropped %d of %d", dropped, len(data))
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 2048)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: codeinterp.DefaultMaxOutput})
	for b.Loop() {
		c.Write(codeinterp.Stdout, chunk)
	}
}

// BenchmarkCallback is what a call of OnOutput costs.
func BenchmarkCallback(b *testing.B) {
	b.ReportAllocs()
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(codeinterp.Output) error { return nil }})
	for b.Loop() {
		c.Write(codeinterp.Stdout, []byte("x"))
	}
}

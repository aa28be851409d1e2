package tools_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// TestPages reads long output to its end, by the tool and by the store, in
// pages of every size.
func TestPages(t *testing.T) {
	text := strings.Repeat("zeile é 日本 😀\n", 100)
	store := tools.NewOutputStore(nil)
	opts := &tools.Options{ReadOutput: true, Outputs: store, MaxText: 1024}
	res := ok(out("\x1b[1m"+text), errOut("warning\n"), display("text/html", []byte("<b>")))
	res.Error = &codeinterp.ProgramError{Name: "E", Message: "m", Traceback: []string{"one", "two"}}
	set := newSet(t, &fake{script: fixed(res)}, opts)
	r := set.Dispatch(t.Context(), runCode, args("x"), nil)
	if r.OutputID == "" || !strings.Contains(r.Text, "workspace__w__read_output with outputId \""+r.OutputID+"\" has all of it") {
		t.Fatal(r.Text)
	}
	for _, limit := range []int64{1, 2, 3, 4, 5, 7, 100, 1024} {
		got, offset := "", int64(0)
		for {
			page, err := store.Read(r.OutputID, "stdout", offset, limit)
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.ValidString(page.Text) || int64(len(page.Text)) > max(limit, 4) || page.Text == "" || page.Offset != offset || page.Total != int64(len(text)) {
				t.Fatalf("limit %d: %+v", limit, page)
			}
			got += page.Text
			if offset = page.NextOffset; offset == 0 {
				break
			}
		}
		if got != text {
			t.Errorf("limit %d: got %d bytes of %d", limit, len(got), len(text))
		}
	}
	for stream, want := range map[string]string{"": text, "stderr": "warning\n", "display": "<b>\n", "error": "one\ntwo\nE: m\n"} {
		if page, err := store.Read(r.OutputID, stream, 0, 1<<20); err != nil || page.Text != want || page.NextOffset != 0 {
			t.Errorf("%s: %+v, %v", stream, page, err)
		}
	}
	call := func(args string) *tools.Answer {
		return set.Dispatch(t.Context(), "workspace__w__read_output", []byte(strings.ReplaceAll(args, "ID", r.OutputID)), nil)
	}
	var page tools.Page
	if err := json.Unmarshal(call(`{"outputId":"ID","offset":6,"limit":9}`).JSON(), &page); err != nil {
		t.Fatal(err)
	}
	if page != (tools.Page{Text: "é 日本", Offset: 6, NextOffset: 15, Total: int64(len(text))}) {
		t.Errorf("got %+v", page)
	}
	if got := call(`{"outputId":"ID","offset":7,"limit":4}`); got.Text != "[bytes 8 to 9 of 2100; the next page starts at offset 9]\n " {
		t.Errorf("in the middle of a character: %q", got.Text)
	}
	if got := call(`{"outputId":"ID","offset":1000000}`); got.Text != "[nothing here; there are 2100 bytes]" || got.Failure != nil {
		t.Errorf("beyond the end: %q", got.Text)
	}
	if got := call(`{"outputId":"IDx"}`); got.Failure == nil || got.Failure.Code != tools.CodeOutput {
		t.Errorf("unknown id: %s", got.Text)
	}
	if got := call(`{"outputId":"ID","stream":"stdin","offset":-1,"limit":2000}`); got.Failure == nil || !strings.Contains(got.Text, "3 faults") {
		t.Errorf("faults: %s", got.Text)
	}
	if _, err := store.Read(r.OutputID, "stdin", 0, 1); !errors.Is(err, codeinterp.ErrInvalid) {
		t.Error(err)
	}
}

// TestStoreBounds: the newest outputs are kept, within the bounds.
// TestStoreTakesAnIDAgain: ids may come from the caller, and may be repeated.
// TestOverwrittenFramesAreKept: what the text leaves out of a progress bar is
// counted, and can be read.
func TestOverwrittenFramesAreKept(t *testing.T) {
	store := tools.NewOutputStore(nil)
	r := run(t, ok(errOut("1%\r50%\r100%\ndone\n")), &tools.Options{ReadOutput: true, Outputs: store})
	if !strings.Contains(r.Text, "Of stderr, 5 bytes that later ones overwrote are not shown") || !strings.Contains(r.Text, "100%\ndone\n") {
		t.Errorf("text %q", r.Text)
	}
	if want := `"truncated":[{"stream":"stderr","bytes":15,"kept":10,"reason":"overwritten"}]`; !strings.Contains(string(r.JSON()), want) {
		t.Errorf("JSON %s", r.JSON())
	}
	if page, err := store.Read(r.OutputID, "stderr", 0, 1000); err != nil || page.Text != "1%\n50%\n100%\ndone\n" {
		t.Errorf("read %+v, %v", page, err)
	}
}

func TestStoreBounds(t *testing.T) {
	for _, tt := range []struct {
		opts tools.OutputStoreOptions
		kept int
	}{
		{tools.OutputStoreOptions{MaxCount: 3}, 3},
		{tools.OutputStoreOptions{MaxBytes: 250_000}, 2},
		{tools.OutputStoreOptions{MaxBytes: 1000}, 0},
	} {
		store := tools.NewOutputStore(&tt.opts)
		n := 0
		opts := &tools.Options{Outputs: store, ReadOutput: true, NewID: func() string { n++; return fmt.Sprint(n) }}
		set := newSet(t, &fake{script: fixed(ok(out(strings.Repeat("x", 100_000))))}, opts)
		var ids []string
		for range 10 {
			r := set.Dispatch(t.Context(), runCode, args("x"), nil)
			if strings.Contains(r.Text, "read_output") != (r.OutputID != "") {
				t.Error("the text promises what is not kept")
			}
			ids = append(ids, r.OutputID)
		}
		for i, id := range ids {
			if _, ok := store.Result(id); ok != (i >= 10-tt.kept) {
				t.Errorf("%+v: output %d: kept is %v", tt.opts, i, ok)
			}
		}
	}
}

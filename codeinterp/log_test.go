package codeinterp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

func TestLog(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(slog.NewTextHandler(&b, nil))
	s, _ := codeinterp.Stateful(codeinterp.Wrap(&echoStateful{}, codeinterp.Log(l)))
	s.RunCode(t.Context(), "echo", "secret\n", nil)
	s.RunInContext(t.Context(), "gone", "secret\n", nil)
	got := b.String()
	for _, want := range []string{"level=INFO", "msg=run", "language=echo", "code_bytes=7", "status=ok", "output_bytes=7",
		"level=WARN", "context=gone", "status=not_run", "no such context"} {
		if !strings.Contains(got, want) {
			t.Errorf("log lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("the code or the output was logged:\n%s", got)
	}
}

func TestLogCalls(t *testing.T) {
	var b bytes.Buffer
	ci := codeinterp.Wrap(&caller{}, codeinterp.Log(slog.New(slog.NewTextHandler(&b, nil))))
	secret := func(context.Context, codeinterp.FunctionCall) (json.RawMessage, error) {
		return json.RawMessage(`"secret"`), nil
	}
	ci.RunCode(t.Context(), "echo", "", &codeinterp.RunOptions{Functions: []codeinterp.Function{{Name: "see", Call: secret}}})
	if got := b.String(); !strings.Contains(got, `msg="call function"`) || !strings.Contains(got, "function=see call=1 args_bytes=2 result_bytes=8") || strings.Contains(got, "secret") {
		t.Errorf("%s", got)
	}
}

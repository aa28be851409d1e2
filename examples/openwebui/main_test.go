package main

import (
	"encoding/base64"
	"testing"
	"time"

	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

func TestExecute(t *testing.T) {
	s := fake.New()
	defer s.Close()
	s.Token = "t"
	image := base64.StdEncoding.EncodeToString([]byte("not really a PNG"))
	s.Execute = func(k *fake.Kernel, req *fake.Message) {
		k.IOPub(req, "status", fake.Status("busy"))
		k.IOPub(req, "stream", fake.Stream("stdout", "hello\n"))
		k.IOPub(req, "display_data", fake.Data(1, "image/png", image, ""))
		end := fake.OK(1)
		if req.Code() == "fail" {
			end = fake.Error("ValueError", "x", "Traceback", "\x1b[31mValueError\x1b[0m: x")
			k.IOPub(req, "error", end)
		} else {
			k.IOPub(req, "execute_result", fake.Data(1, "text/plain", "42", ""))
		}
		k.Reply(req, "execute_reply", end)
		k.IOPub(req, "status", fake.Status("idle"))
	}
	opts := &jupyter.Options{URL: "http://fake", Auth: jupyter.Auth{Token: "t"}, HTTPClient: s.Client()}
	picture := "data:image/png;base64," + image
	for code, want := range map[string]Output{
		"print('hello'); 42": {"hello\n", "", picture + "\n42"},
		"fail":               {"hello\n", "Traceback\nValueError: x\n", picture},
	} {
		got, err := Execute(t.Context(), opts, code, time.Minute)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", code, got, err, want)
		}
	}
}

package mcptools

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/secret"
)

// Programs get values: no text, structure or error of an answer is lost.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ result, want string }{
		"text":                   {`{"content":[` + text("hi") + `]}`, `"hi"`},
		"texts":                  {`{"content":[` + text("a") + `,` + text("b") + `]}`, `"a\nb"`},
		"JSON text":              {`{"content":[` + text(` [{"id": 1, "title": "a"}, {"id": 2}] `) + `]}`, `[{"id":1,"title":"a"},{"id":2}]`},
		"JSON texts":             {`{"content":[` + text(`{"a":1}`) + `,` + text(`{"b":2}`) + `]}`, `[{"a":1},{"b":2}]`},
		"JSON and other text":    {`{"content":[` + text(`{"a":1}`) + `,` + text(`done`) + `]}`, `"{\"a\":1}\ndone"`},
		"large integer":          {`{"content":[` + text(`{"id":12345678901234567890}`) + `]}`, `"{\"id\":12345678901234567890}"`},
		"number text":            {`{"content":[` + text(`42`) + `]}`, `"42"`},
		"nothing":                {`{"content":[]}`, `null`},
		"structured":             {`{"content":[` + text(`{"n": 5}`) + `],"structuredContent":{"n":5}}`, `{"n":5}`},
		"wrapped":                {`{"content":[` + text(`hi`) + `],"structuredContent":{"result":"hi"}}`, `{"result":"hi"}`},
		"wrapped list":           {`{"content":[` + text(`a`) + `,` + text(`{"x": 1}`) + `],"structuredContent":{"result":["a",{"x":1}]}}`, `{"result":["a",{"x":1}]}`},
		"text beside":            {`{"content":[` + text("THE BODY") + `],"structuredContent":{"id":"etc","size":24}}`, `{"_text":"THE BODY","id":"etc","size":24}`},
		"text beside list":       {`{"content":[` + text("THE BODY") + `],"structuredContent":[1]}`, `{"_text":"THE BODY","value":[1]}`},
		"error":                  {`{"isError":true,"content":[` + text("no such thing") + `]}`, `ERROR s_f: no such thing`},
		"structured error":       {`{"isError":true,"content":[],"structuredContent":{"error":{"code":"E42","message":"quota exceeded"}}}`, `quota exceeded`},
		"text and structure":     {`{"isError":true,"content":[` + text("failed") + `],"structuredContent":{"code":"E42"}}`, "ERROR s_f: failed\n{\"code\":\"E42\"}"},
		"error without a reason": {`{"isError":true,"content":[]}`, `the tool failed without a reason`},
		"unknown kind":           {`{"content":[{"type":"widget","id":"w1"},` + text("and text") + `]}`, "has failed"},
		"content that is null":   {`{"content":null,"structuredContent":{"a":1}}`, `{"a":1}`},
		"link":                   {`{"content":[{"type":"resource_link","uri":"https://example.com/doc","name":"doc","description":"A page."}]}`, `[resource doc: https://example.com/doc] A page.`},
		"file":                   {`{"content":[` + text("a file") + `,{"type":"resource","resource":{"uri":"file:///a/../data.bin","mimeType":"application/zip","blob":"UEs="}}]}`, `{"value":"a file","_files":[{"handle":"file_1","name":"data.bin","mime":"application/zip","bytes":2}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := programs(t, openSet(t, nil, answering(result(tt.result))))(print)
			if !strings.Contains(got, tt.want) && !strings.Contains(got, strings.ReplaceAll(tt.want, `"`, `\"`)) {
				t.Errorf("%s is %s, want %s", tt.result, got, tt.want)
			}
		})
	}
}

// Registered secrets reach neither the model nor programs, by lists or by answers.
func TestSecrets(t *testing.T) {
	const key = "sk-SECRET-1234567890"
	secrets, err := secret.New(key)
	if err != nil {
		t.Fatal(err)
	}
	tool := `{"name":"f","title":"` + key + `","description":"uses ` + key + `","inputSchema":{"type":"object","properties":{"q":{"description":"` + key + `","enum":["` + key + `"]}}},
		"outputSchema":{"type":"object","properties":{"x":{"description":"` + key + `"}}}},{"name":"` + key + `","inputSchema":{"type":"object"}}`
	tool = strings.ReplaceAll(tool, "\n", "")
	answers := `{"content":[` + text("a "+key) + `,{"type":"resource","resource":{"uri":"file:///` + key + `.bin","mimeType":"a/b; k=` + key + `","blob":"UEs="}}],"structuredContent":{"` + key + `":"` + key + `"}}`
	set := openSet(t, &Options{Secrets: secrets}, fake("s", tool, func(r request) string {
		if r.Method == "tools/call" {
			return result(answers)
		}
		return ""
	}))
	for _, e := range set.Entries() {
		for _, text := range []string{e.Name, e.Title, e.Description, string(e.InputSchema), string(e.OutputSchema)} {
			if strings.Contains(text, "SECRET") {
				t.Errorf("listed: %s", text)
			}
		}
		if e.Name != "s_f" {
			continue
		}
		a := e.Invoke(t.Context(), invocation("{}"))
		if strings.Contains(a.Text, "SECRET") || !strings.Contains(a.Text, "[a/b; k=") {
			t.Errorf("answered: %s", a.Text)
		}
	}
	got := programs(t, set)(`console.log(JSON.stringify(await tools.s_f({})).split("").join("."), (await tools.describe({name: "s_f"})).split("").join("."))`)
	if strings.Contains(got, "S.E.C.R.E.T") || !strings.Contains(got, "_.f.i.l.e.s") {
		t.Error(got)
	}
}

// A server's JSON text may write a secret with escapes: the program's value has none.
func TestSecretsInEscapes(t *testing.T) {
	const url = "postgres://user:pw@host/name"
	secrets, err := secret.New(url)
	if err != nil {
		t.Fatal(err)
	}
	for n, written := range []string{`postgres:\/\/user:pw@host\/name`, `po\u0073tgres://user:pw@host/name`} {
		answers := []string{`{"k":"` + written + `"}`, `{"` + written + `":1}`, `[["` + written + `"]]`}
		if n == 0 {
			answers = append(answers, `It is {"k":"`+written+`"}.`)
		}
		for _, answer := range answers {
			set := openSet(t, &Options{Secrets: secrets}, answering(result(`{"content":[`+text(answer)+`]}`)))
			got := programs(t, set)(`console.log(JSON.stringify(await tools.s_f({})).split("").join("."))`)
			if strings.Contains(got, "u.s.e.r.:.p.w") || !strings.Contains(got, "[.s.e.c.r.e.t.]") {
				t.Errorf("%s is %s", answer, got)
			}
		}
	}
}

func invocation(args string) tools.Invocation { return tools.Invocation{Args: []byte(args)} }

// A malformed answer fails its call, not the next one, and lines that are no messages are
// skipped.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ line, want string }{
		"NaN":           {result(`{"structuredContent": {"x": NaN}}`), "has failed"},
		"cut":           {`{"jsonrpc":"2.0","id":ID,"result":{"content":[`, "has failed"},
		"content":       {result(`{"content":[{"type":"hologram"}]}`), "has failed"},
		"error as text": {`{"jsonrpc":"2.0","id":ID,"error":"a plain string"}`, "has failed"},
		"an error":      {`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad input"}}`, "s_f: bad input"},
		"words before":  {"npm WARN x\n\x00\xff{{\n[1] 5\n{\"level\":\"info\",\"id\":ID}\n" + result(`{"content":[`+text("fine")+`]}`), `"fine"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			set := openSet(t, nil, fake("s", `{"name":"f","inputSchema":{"type":"object"}}`, func(r request) string {
				if r.Method != "tools/call" {
					return ""
				}
				if n++; n == 1 {
					return tt.line
				}
				return result(`{"content":[` + text("the next") + `]}`)
			}))
			wants(t, programs(t, set)(print+print), tt.want, "the next")
		})
	}
}

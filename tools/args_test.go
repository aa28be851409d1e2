package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/goldentest"
	"github.com/toolcell/toolcell/tools"
)

// TestArguments calls run_code with arguments of every kind. Where there is a
// fault, nothing runs and the message has all its parts.
func TestArguments(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, tt := range []struct {
		name string
		args string
		want []string // parts of the message; none: it runs
	}{
		{"plain", `{"language":"python","code":"x","timeoutMs":1000}`, nil},
		{"without the optional", `{"language":"python","code":"x"}`, nil},
		{"null for the optional", `{"language":"python","code":"x","timeoutMs":null}`, nil},
		{"exponent", `{"language":"python","code":"x","timeoutMs":1e3}`, nil},
		{"integral fraction", `{"language":"python","code":"x","timeoutMs":1000.0}`, nil},
		{"alias", `{"language":"PY","code":"x"}`, nil},
		{"spaces", " \n{ \"language\" : \"python\" , \"code\" : \"x\" }\n", nil},
		{"encoded twice", `"{\"language\":\"python\",\"code\":\"x\"}"`, nil},
		{"escaped name", `{"language":"python","\u0063ode":"x"}`, nil},
		{"empty code", `{"language":"python","code":""}`, nil},

		{"nothing", ``, []string{"2 faults", "language: required", "code: required", "Nothing was run."}},
		{"null", `null`, []string{"language: required", "code: required"}},
		{"array", `[1]`, []string{"need a JSON object, got an array"}},
		{"number", `12`, []string{"need a JSON object, got 12"}},
		{"text", `"print(1)"`, []string{"not valid JSON"}},
		{"encoded three times", `"\"{}\""`, []string{"need a JSON object, got the string"}},
		{"cut off", `{"language":"python","code":"x`, []string{"not valid JSON"}},
		{"trailing", `{"language":"python","code":"x"}{}`, []string{"not valid JSON"}},
		{"single quotes", `{'language':'python'}`, []string{"not valid JSON"}},
		{"not UTF-8", "{\"language\":\"python\",\"code\":\"\xff\"}", []string{"not valid UTF-8"}},
		{"duplicate", `{"language":"python","code":"x","code":"y"}`, []string{"code: given more than once"}},
		{"wrong case", `{"language":"python","Code":"x"}`, []string{`"Code": no such argument; did you mean code?`, "code: required"}},
		{"wrong style", `{"language":"python","code":"x","timeout_ms":5}`, []string{"did you mean timeoutMs?"}},
		{"unknown name", `{"language":"python","code":"x","zzz":5}`, []string{`"zzz": no such argument; there are language, code, timeoutMs`}},
		{"types", `{"language":1,"code":["x"],"timeoutMs":"soon"}`, []string{
			"3 faults", "language: need a string, got 1", "code: need a string, got an array", `timeoutMs: need an integer, got the string "soon"`,
		}},
		{"null for the required", `{"language":null,"code":null}`, []string{"language: need a string, got null", "code: need a string, got null"}},
		{"zero", `{"language":"python","code":"x","timeoutMs":0}`, []string{"timeoutMs: need 1 to 600000 milliseconds, got 0"}},
		{"NUL", `{"language":"python","code":"a\u0000"}`, []string{"NUL byte at offset 1"}},
		{"all at once", `{"language":"cobol","code":"\u0000","timeoutMs":0,"x":1,"x":2}`, []string{
			"5 faults", "cobol", "supported: javascript, python", "NUL", "timeoutMs", `"x"`,
		}},
		{"too large", `{"language":"python","code":"` + strings.Repeat("x", 100<<20) + `"}`, []string{"104857631 bytes, more than"}},
		{"large code", `{"language":"python","code":"` + strings.Repeat("x", codeinterp.MaxCode+1) + `"}`, []string{"put data into a file"}},
		{"deep", deep, []string{"nested more than 100 deep"}},
		{"deep, encoded twice", `"` + deep + `"`, []string{"nested more than 100 deep"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ci := &fake{}
			set := newSet(t, ci, nil)
			start := time.Now()
			reply := set.Dispatch(t.Context(), "workspace__w__run_code", []byte(tt.args), nil)
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			if len(tt.want) == 0 {
				if reply.Failure != nil || ci.ran() != 1 {
					t.Fatalf("ran %d times: %s", ci.ran(), reply.Text)
				}
				return
			}
			if reply.Failure == nil || reply.Failure.Code != tools.CodeInvalid || ci.ran() != 0 {
				t.Fatalf("ran %d times: %s", ci.ran(), reply.Text)
			}
			if len(reply.Text) > 1000 || !json.Valid(reply.JSON()) {
				t.Errorf("%d bytes: %s", len(reply.Text), reply.Text)
			}
			for _, part := range tt.want {
				if !strings.Contains(reply.Failure.Message, part) {
					t.Errorf("%q is not in %q", part, reply.Failure.Message)
				}
			}
		})
	}
}

func TestDecoded(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		opts       *tools.Options
		code       string
		timeout    time.Duration
	}{
		{"given", `{"language":"python","code":"a\n\u00e9\ud83d\ude00","timeoutMs":1e3}`, nil, "a\né😀", time.Second},
		{"default", `{"language":"python","code":"x"}`, nil, "x", time.Minute},
		{"null", `{"language":"python","code":"x","timeoutMs":null}`, nil, "x", time.Minute},
		{"own default", `{"language":"python","code":"x"}`, &tools.Options{Timeout: time.Hour, MaxTimeout: 2 * time.Hour}, "x", time.Hour},
		{"short maximum", `{"language":"python","code":"x"}`, &tools.Options{MaxTimeout: time.Second}, "x", time.Second},
		{"none", `{"language":"python","code":"x"}`, &tools.Options{Timeout: -1}, "x", 0},
		{"text", `{"language":"python","code":"x","timeoutMs":"5000"}`, nil, "x", 5 * time.Second},
		{"fence", "{\"language\":\"python\",\"code\":\"```\\nx\\n```\"}", nil, "x\n", time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ci := &fake{}
			reply := newSet(t, ci, tt.opts).Dispatch(t.Context(), "workspace__w__run_code", []byte(tt.args), nil)
			if reply.Failure != nil {
				t.Fatal(reply.Text)
			}
			if ci.runs[0] != tt.code || ci.opts[0].Timeout != tt.timeout {
				t.Errorf("got %q, %v", ci.runs[0], ci.opts[0].Timeout)
			}
		})
	}
}

func TestLanguageFault(t *testing.T) {
	set := newSet(t, &fake{}, nil)
	r := set.Dispatch(t.Context(), "workspace__w__run_code", []byte(`{"language":"cobol","code":"x"}`), nil)
	if r.Failure == nil || r.Failure.Code != tools.CodeLanguage || !strings.Contains(r.Text, "javascript, python") {
		t.Error(r.Text)
	}
}

// schemaJudge compiles a schema with an independent validator.
func schemaJudge(t testing.TB, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemasAgree generates arguments for every tool and compares what the
// schemas say with what the decoder does. What the schema accepts is accepted;
// what it refuses is refused, but for the few liberties of the decoder.
func TestSchemasAgree(t *testing.T) {
	list, err := tools.ForCode("w", newManaged(), &tools.Options{ManageContexts: true, ReadOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	values := []string{
		`null`, `true`, `"python"`, `"cobol"`, `""`, `"ctx-1"`, `"stdout"`, `"stdin"`, `0`, `1`, `-1`, `1.0`, `1.5`, `1e3`,
		`600000`, `600001`, `32768`, `32769`, `[]`, `{}`, `["python"]`,
	}
	for _, tool := range list {
		neutral, strict := schemaJudge(t, tool.InputSchema), schemaJudge(t, tool.StrictSchema)
		var shape struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(tool.InputSchema, &shape); err != nil {
			t.Fatal(err)
		}
		base := map[string]string{"language": `"python"`, "code": `"x"`, "contextId": `"ctx-1"`, "outputId": `"o"`}
		check := func(args map[string]string) {
			raw := []byte("{")
			for name, v := range args {
				if len(raw) > 1 {
					raw = append(raw, ',')
				}
				raw = fmt.Appendf(raw, "%q:%s", name, v)
			}
			raw = append(raw, '}')
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			valid, strictly := neutral.Validate(doc) == nil, strict.Validate(doc) == nil
			reply := tool.Invoke(t.Context(), tools.Invocation{Args: raw})
			accepted := reply.Failure == nil || reply.Failure.Code != tools.CodeInvalid && reply.Failure.Code != tools.CodeLanguage
			if (valid || strictly) && !accepted {
				t.Errorf("%s: a schema accepts %s, the decoder does not: %s", tool.Name, raw, reply.Text)
			}
			if accepted && !valid && !strictly && !nullOptional(args, shape.Required) {
				t.Errorf("%s: both schemas refuse %s, the decoder accepts it", tool.Name, raw)
			}
		}
		full := map[string]string{}
		for _, name := range shape.Required {
			full[name] = base[name]
		}
		check(full)
		check(map[string]string{})
		check(with(full, "other", "1"))
		for name := range shape.Properties {
			check(without(full, name))
			for _, v := range values {
				check(with(full, name, v))
				for other := range shape.Properties {
					check(with(with(full, name, v), other, `null`))
				}
			}
		}
	}
}

// nullOptional reports whether an optional argument is null: a liberty where
// not all optional ones are given.
func nullOptional(args map[string]string, required []string) bool {
	for name, v := range args {
		isRequired := false
		for _, r := range required {
			isRequired = isRequired || r == name
		}
		if v == `null` && !isRequired {
			return true
		}
	}
	return false
}

func with(m map[string]string, name, v string) map[string]string {
	out := without(m, name)
	out[name] = v
	return out
}

func without(m map[string]string, name string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// TestSchemaRules: no schema has what some API refuses.
func TestSchemaRules(t *testing.T) {
	list, err := tools.ForCode("w", newManaged(), &tools.Options{ManageContexts: true, ReadOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		for name, raw := range map[string][]byte{"neutral": tool.InputSchema, "strict": tool.StrictSchema} {
			for _, banned := range []string{"$schema", "$ref", "$defs", "$id", "minLength", "default", "oneOf", "anyOf", "pattern", ":true"} {
				if bytes.Contains(raw, []byte(`"`+banned)) || banned[0] == ':' && bytes.Contains(raw, []byte(banned)) {
					t.Errorf("%s: the %s schema has %s", tool.Name, name, banned)
				}
			}
			var s struct {
				Type                 string
				Properties           map[string]any
				Required             []string
				AdditionalProperties *bool
			}
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatal(err)
			}
			if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties || s.Properties == nil {
				t.Errorf("%s: the %s schema: %s", tool.Name, name, raw)
			}
			if name == "strict" && len(s.Required) != len(s.Properties) {
				t.Errorf("%s: the strict schema does not require everything: %s", tool.Name, raw)
			}
		}
	}
}

// TestAnswersFollowSchemas judges the JSON of answers by the output schemas.
func TestAnswersFollowSchemas(t *testing.T) {
	ci := newManaged()
	ci.script = fixed(codeinterp.Result{
		Status: codeinterp.StatusError, ExitCode: 1, StateLost: true, ExecutionCount: 2, Duration: time.Second, Cause: codeinterp.CauseMemory,
		Outputs: []codeinterp.Output{
			out(strings.Repeat("line\n", 10_000)), errOut("x"), display("image/png", pngOf(t, 2, 2)), display("image/svg+xml", []byte("<svg/>")),
			display("application/pdf", []byte("%PDF")), {Kind: codeinterp.Value, Value: json.RawMessage(`{"a":[1]}`),
				Bundle: []codeinterp.Representation{{MIME: "text/plain", Data: []byte("{a: [1]}")}, {MIME: "text/html", Data: []byte("<b>")}}},
		},
		Error:     &codeinterp.ProgramError{Name: "E", Message: "m", Line: 3, MissingModule: "foo", Traceback: []string{"a", "b"}},
		Truncated: []codeinterp.Truncation{{Stream: "stdout", Bytes: 1 << 20, Kept: 50_000, Reason: codeinterp.TruncatedByLimit}, {Stream: "stderr", Bytes: -1, Reason: codeinterp.TruncatedByRate}},
		Artifacts: []codeinterp.Artifact{{Path: "a.csv", MIME: "text/csv", Size: 3, SHA256: "00"}},
	})
	list, err := tools.ForCode("w", ci, &tools.Options{ManageContexts: true, ReadOutput: true, MaxText: 1024, NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]string{
		"run_code": `{"language":"python","code":"x"}`, "create_code_context": `{"language":"python"}`,
		"run_in_code_context": `{"contextId":"ctx-1","code":"x"}`, "delete_code_context": `{"contextId":"ctx-2"}`,
		"restart_code_context": `{"contextId":"ctx-1"}`, "interrupt_code_context": `{"contextId":"ctx-1"}`,
		"list_code_contexts": `{}`, "read_output": `{"outputId":"id","limit":100}`,
	}
	if _, err := ci.CreateContext(t.Context(), "python", nil); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list {
		op := strings.TrimPrefix(tool.Name, "workspace__w__")
		reply := tool.Invoke(t.Context(), tools.Invocation{ID: "c", Args: []byte(args[op])})
		if reply.Failure != nil {
			t.Errorf("%s: %s", op, reply.Text)
			continue
		}
		goldenJSON(t, "answers/"+op+".json", reply.JSON())
		goldentest.Check(t, "answers/"+op+".txt", []byte(reply.Text))
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(reply.JSON()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemaJudge(t, tool.OutputSchema).Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", op, err, reply.JSON())
		}
	}
}

func TestUnknownTool(t *testing.T) {
	ci := &fake{}
	set := newSet(t, ci, nil)
	for name, want := range map[string]string{
		"run_code":                           "did you mean workspace__w__run_code?",
		"Workspace__w__runCode":              "did you mean workspace__w__run_code?",
		"eval":                               "there are workspace__w__run_code",
		strings.Repeat("x", 1<<20):           "there are workspace__w__run_code",
		"workspace__w__run_code\x00<|system": "workspace__w__run_code",
	} {
		r := set.Dispatch(t.Context(), name, []byte(`{"language":"python","code":"x"}`), nil)
		if r.Failure == nil || r.Failure.Code != tools.CodeUnknownTool || !strings.Contains(r.Text, want) || len(r.Text) > 600 {
			t.Errorf("%.40q: %.600s", name, r.Text)
		}
	}
	if ci.ran() != 0 {
		t.Error("something ran")
	}
}

// TestHostileText cleans and shows text that took minutes or hours where the work grew
// with the square of it.
func TestHostileText(t *testing.T) {
	const size = 1 << 19
	for _, unit := range []string{"\x1b[0m", "\x1b[0mx\r", "\x1b]", "\r", "a\r", "1%\r", "\x1b[K\r", "\xff", "\u202e", "--- ", "--- \n", " ", "--- stdout ---\r"} {
		ci := &fake{script: fixed(ok(out(strings.Repeat(unit, size/len(unit)) + "end\n")))}
		list, err := tools.ForCode("w", ci, &tools.Options{MaxText: size})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tools.NewSet(list, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := set.Dispatch(t.Context(), runCode, args("x"), nil); r.Failure != nil || len(r.Text) == 0 || len(r.JSON()) == 0 {
			t.Errorf("%q: %.100q", unit, r.Text)
		}
	}
}

// TestHostileArgs: arguments that a program makes up take no more time or memory than
// their size has it.
func TestHostileArgs(t *testing.T) {
	type row struct {
		A string `json:"a,omitempty"`
	}
	f := tools.Func("f", "", func(_ context.Context, in map[string][]row) (int, error) { return len(in), nil })
	for name, c := range map[string]struct{ args, err string }{
		"a long key":           {`{"` + strings.Repeat("k", 4<<20) + `":[` + strings.Repeat(`{},`, 200_000) + `{}]}`, ""},
		"a long key of a key":  {`{"` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat(`{},`, 1000) + `{"x":1}]}`, "kkk..."},
		"half a million rows":  {`{"a":[` + strings.Repeat(`{},`, 500_000) + `{}]}`, "more than 500000 members"},
		"half a million names": {`{` + strings.Repeat(`"a":[],`, 300_000) + `"a":[]}`, "more than 500000 members"},
	} {
		_, err := f.Call(t.Context(), codeinterp.FunctionCall{Args: json.RawMessage(c.args)})
		if text := fmt.Sprint(err); (err == nil) != (c.err == "") || !strings.Contains(text, c.err) || len(text) > 2<<10 {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

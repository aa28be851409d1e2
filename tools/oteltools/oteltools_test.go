package oteltools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/tools/oteltools"
	"github.com/toolcell/toolcell/tools/secret"
)

// A rig is a set of tools whose spans and measurements are kept.
type rig struct {
	set      *tools.Set
	spans    *tracetest.InMemoryExporter
	reader   *sdkmetric.ManualReader
	provider *sdktrace.TracerProvider
}

func newRig(t *testing.T, opts oteltools.Options) *rig {
	t.Helper()
	r := &rig{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	r.provider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(r.spans))
	opts.TracerProvider = r.provider
	opts.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	list, err := tools.ForCode("demo", oteltools.Interpreter(&fake{}, &opts), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.set, err = tools.NewSet(oteltools.Tools(list, &opts), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) call(ctx context.Context, op, args string) *tools.Answer {
	return r.set.Dispatch(ctx, tools.Prefixed("demo", op), json.RawMessage(args), &tools.DispatchOptions{ID: "call_1"})
}

// take returns the span of that name.
func (r *rig) take(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	for _, s := range r.spans.GetSpans() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %q among %d", name, len(r.spans.GetSpans()))
	return tracetest.SpanStub{}
}

func (r *rig) histogram(t *testing.T) metricdata.Histogram[float64] {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := r.reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	m := data.ScopeMetrics[0].Metrics[0]
	if m.Name != "gen_ai.execute_tool.duration" || m.Unit != "s" {
		t.Errorf("instrument %q in %q", m.Name, m.Unit)
	}
	return m.Data.(metricdata.Histogram[float64])
}

func text(attrs []attribute.KeyValue) string {
	var list []string
	for _, a := range attrs {
		list = append(list, fmt.Sprintf("%s=%s", a.Key, a.Value.Emit()))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func value(attrs []attribute.KeyValue, key attribute.Key) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value.Emit()
		}
	}
	return ""
}

const runSpan = "execute_tool run_code"

func TestSpan(t *testing.T) {
	r := newRig(t, oteltools.Options{Workspace: "demo"})
	ctx, parent := r.provider.Tracer("test").Start(t.Context(), "invoke_agent")
	r.call(ctx, "run_code", `{"language":"py","code":"print('secret code')"}`)
	parent.End()
	outer, inner := r.take(t, runSpan), r.take(t, "codeinterp run")
	if outer.Parent.SpanID() != parent.SpanContext().SpanID() || inner.Parent.SpanID() != outer.SpanContext.SpanID() {
		t.Error("the spans do not nest under the caller's")
	}
	if outer.SpanKind != trace.SpanKindInternal || outer.Status.Code != codes.Unset {
		t.Errorf("kind %v, status %v", outer.SpanKind, outer.Status)
	}
	var attrs []attribute.KeyValue
	for _, a := range outer.Attributes {
		if a.Key == "gen_ai.tool.description" {
			t.Error("the description is in the span")
		} else {
			attrs = append(attrs, a)
		}
	}
	want := `codeinterp.exit_code=0
codeinterp.output.size=14
codeinterp.status=ok
codeinterp.workspace=demo
gen_ai.operation.name=execute_tool
gen_ai.tool.call.id=call_1
gen_ai.tool.name=run_code
gen_ai.tool.type=function`
	if got := text(attrs); got != want {
		t.Errorf("attributes of the tool's span:\n%s\nwant:\n%s", got, want)
	}
	want = `codeinterp.code.size=20
codeinterp.exit_code=0
codeinterp.language=python
codeinterp.output.size=14
codeinterp.provider=fake
codeinterp.status=ok
codeinterp.workspace=demo`
	if got := text(inner.Attributes); got != want {
		t.Errorf("attributes of the interpreter's span:\n%s\nwant:\n%s", got, want)
	}
}

// Requests of a program are events of its run, without their paths.
func TestNetwork(t *testing.T) {
	r := newRig(t, oteltools.Options{})
	r.call(t.Context(), "run_code", `{"language": "python", "code": "network"}`)
	list := r.take(t, "codeinterp run").Events
	if len(list) != 1 || list[0].Name != "codeinterp.network" {
		t.Fatal(list)
	}
	if got := text(list[0].Attributes); !strings.Contains(got, "api.test") || !strings.Contains(got, "443") || strings.Contains(got, "secret") {
		t.Error(got)
	}
}

func TestParentFromElsewhere(t *testing.T) {
	r := newRig(t, oteltools.Options{})
	const id = "0af7651916cd43dd8448eb211c80319c"
	ctx := tools.WithTrace(t.Context(), tools.Trace{"traceparent": "00-" + id + "-b7ad6b7169203331-01"})
	r.call(ctx, "run_code", `{"language":"python","code":"1"}`)
	for _, name := range []string{runSpan, "codeinterp run"} {
		if got := r.take(t, name).SpanContext.TraceID().String(); got != id {
			t.Errorf("trace of %q is %s, want the caller's %s", name, got, id)
		}
	}
	r.spans.Reset()
	ctx, own := r.provider.Tracer("test").Start(ctx, "own")
	defer own.End()
	r.set.Dispatch(ctx, "workspace__demo__run_code", json.RawMessage(`{"language":"python","code":"2"}`), nil)
	if got := r.take(t, runSpan).Parent.SpanID(); got != own.SpanContext().SpanID() {
		t.Error("a span in ctx has to come before a trace from elsewhere")
	}
}

func TestErrorType(t *testing.T) {
	for _, tt := range []struct {
		op, args           string
		status, tool, run  string // run: error.type of the interpreter's span
		interpreterNotSeen bool
	}{
		{op: "run_code", args: `{"language":"python","code":"ok"}`, status: "ok"},
		{op: "run_code", args: `{"language":"python","code":"error"}`, status: "error"},
		{op: "run_code", args: `{"language":"python","code":"timeout"}`, status: "timeout", tool: "timeout", run: "timeout"},
		{op: "run_code", args: `{"language":"python","code":"cancel"}`, status: "canceled", tool: "canceled", run: "canceled"},
		{op: "run_code", args: `{"language":"python","code":"lost"}`, status: "lost", tool: "lost", run: "lost"},
		{op: "run_code", args: `{"language":"python","code":"down"}`, tool: "unavailable", run: "unavailable"},
		{op: "run_code", args: `{"language":"python","code":"odd"}`, tool: "internal", run: "internal"},
		{op: "run_code", args: `{"language":"cobol","code":"1"}`, tool: "unsupported_language", interpreterNotSeen: true},
		{op: "run_code", args: `{"code":1}`, tool: "invalid_arguments", interpreterNotSeen: true},
		{op: "run_code", args: `{"language":"python","code":"panic"}`, tool: "internal"},
		{op: "run_in_code_context", args: `{"contextId":"gone","code":"1"}`, tool: "context_not_found", run: "context_not_found"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			r := newRig(t, oteltools.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r.call(context.WithValue(ctx, cancelKey{}, cancel), tt.op, tt.args)
			s := r.take(t, "execute_tool "+tt.op)
			check(t, "tool's", s, tt.status, tt.tool)
			for _, s := range r.spans.GetSpans() {
				if strings.Contains(text(s.Attributes)+s.Status.Description, "secret") {
					t.Errorf("span %q tells a secret", s.Name)
				}
				if strings.HasPrefix(s.Name, "codeinterp") && !strings.Contains(tt.args, "panic") {
					check(t, "interpreter's", s, "", tt.run)
					if tt.interpreterNotSeen {
						t.Error("the interpreter was called")
					}
				}
			}
			p := r.histogram(t).DataPoints[0].Attributes
			if got, _ := p.Value("error.type"); got.AsString() != tt.tool {
				t.Errorf("error.type of the measurement is %q, want %q", got.AsString(), tt.tool)
			}
		})
	}
}

func check(t *testing.T, whose string, s tracetest.SpanStub, status, errorType string) {
	t.Helper()
	if got := value(s.Attributes, "error.type"); got != errorType {
		t.Errorf("error.type of the %s span is %q, want %q", whose, got, errorType)
	}
	if bad := s.Status.Code == codes.Error; bad != (errorType != "") {
		t.Errorf("status of the %s span is %v", whose, s.Status)
	}
	if status != "" && value(s.Attributes, "codeinterp.status") != status {
		t.Errorf("codeinterp.status of the %s span is %q, want %q", whose, value(s.Attributes, "codeinterp.status"), status)
	}
}

func TestHistogram(t *testing.T) {
	r := newRig(t, oteltools.Options{Workspace: "demo"})
	id := "context-1"
	r.call(t.Context(), "create_code_context", `{"language":"js"}`)
	r.call(t.Context(), "run_in_code_context", `{"contextId":"`+id+`","code":"1"}`)
	r.call(t.Context(), "run_in_code_context", `{"contextId":"`+id+`","code":"2"}`)
	h := r.histogram(t)
	if len(h.DataPoints) != 2 {
		t.Fatalf("%d series, want 2", len(h.DataPoints))
	}
	for _, p := range h.DataPoints {
		if name, _ := p.Attributes.Value("gen_ai.tool.name"); name.AsString() != "run_in_code_context" {
			continue
		}
		want := `codeinterp.status=ok
codeinterp.workspace=demo
gen_ai.tool.name=run_in_code_context
gen_ai.tool.type=function`
		if got := text(p.Attributes.ToSlice()); got != want || p.Count != 2 {
			t.Errorf("%d measurements with\n%s\nwant 2 with\n%s", p.Count, got, want)
		}
		if len(p.Bounds) != 14 || p.Bounds[0] != 0.01 || p.Bounds[13] != 81.92 {
			t.Errorf("bounds %v", p.Bounds)
		}
	}
	s := r.take(t, "codeinterp run in context")
	if got := value(s.Attributes, "codeinterp.context.id"); got != id {
		t.Errorf("context %q on the span, want %q", got, id)
	}
}

func TestContent(t *testing.T) {
	secrets, err := secret.New("secret")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, oteltools.Options{Content: true, Secrets: secrets})
	r.call(t.Context(), "run_code", `{"language":"python","code":"secret = 1"}`)
	s := r.take(t, runSpan)
	if got, want := value(s.Attributes, "gen_ai.tool.call.arguments"), `{"language":"python","code":"[secret] = 1"}`; got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
	got := value(s.Attributes, "gen_ai.tool.call.result")
	if !strings.HasPrefix(got, `{"status":"ok"`) || strings.Contains(got, "secret o") {
		t.Errorf("result %q", got)
	}
}

// TestContentOfFailures: a failed call has no result.
func TestContentOfFailures(t *testing.T) {
	r := newRig(t, oteltools.Options{Content: true})
	r.call(t.Context(), "run_code", `{"language":"python","code":"down"}`)
	s := r.take(t, runSpan)
	if got := value(s.Attributes, "gen_ai.tool.call.result"); got != "" {
		t.Errorf("the result is %q", got)
	}
}

// TestRemembered: a call that is answered from memory has a span that says so.
func TestRemembered(t *testing.T) {
	r := newRig(t, oteltools.Options{})
	set, err := tools.NewSet(r.set.Tools(), &tools.SetOptions{RememberFor: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		set.Dispatch(t.Context(), tools.Prefixed("demo", "run_code"), []byte(`{"language":"python","code":"1"}`), &tools.DispatchOptions{ID: "a", Turn: "1"})
	}
	var remembered []string
	for _, s := range r.spans.GetSpans() {
		remembered = append(remembered, value(s.Attributes, "codeinterp.remembered"))
	}
	if !slices.Equal(remembered, []string{"", "", "true"}) {
		t.Errorf("the attributes of the spans: %q", remembered)
	}
}

func TestPresence(t *testing.T) {
	if _, ok := codeinterp.Stateful(oteltools.Interpreter(&fake{}, nil)); !ok {
		t.Error("a stateful interpreter lost its contexts")
	}
	if _, ok := codeinterp.Stateful(oteltools.Interpreter(codeinterp.Stateless(&fake{}), nil)); ok {
		t.Error("a stateless interpreter got contexts")
	}
}

func TestToolsLeavesItsInputAlone(t *testing.T) {
	list := []tools.Tool{{Name: "own", Invoke: func(ctx context.Context, c tools.Invocation) *tools.Answer {
		if trace.SpanFromContext(ctx).SpanContext().IsValid() {
			t.Error("the caller's tool was changed")
		}
		return &tools.Answer{}
	}}}
	oteltools.Tools(list, &oteltools.Options{TracerProvider: sdktrace.NewTracerProvider()})
	list[0].Invoke(t.Context(), tools.Invocation{})
}

// TestNoSDK keeps the SDK, and whatever it brings, out of programs.
func TestNoSDK(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		if strings.HasPrefix(dep, "go.opentelemetry.io/otel/sdk") || strings.Contains(dep, "prometheus") {
			t.Errorf("depends on %s", strings.TrimSpace(dep))
		}
	}
}

// BenchmarkTools is a tool call as it is, without an SDK, and with one.
func BenchmarkTools(b *testing.B) {
	none := tools.Tool{Name: "none", Invoke: func(context.Context, tools.Invocation) *tools.Answer { return &tools.Answer{} }}
	for _, bb := range []struct {
		name string
		tool tools.Tool
	}{
		{"floor", none},
		{"api", oteltools.Tools([]tools.Tool{none}, nil)[0]},
		{"sdk", oteltools.Tools([]tools.Tool{none}, &oteltools.Options{
			TracerProvider: sdktrace.NewTracerProvider(),
			MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
		})[0]},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bb.tool.Invoke(b.Context(), tools.Invocation{})
			}
		})
	}
}

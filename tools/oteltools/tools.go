package oteltools

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcell/toolcell/tools"
)

// Tools returns the tools with a span and a measurement around each of their
// calls. A call that a [tools.Set] answers from memory has a span with the
// attribute codeinterp.remembered; one whose tool it does not know has none. opts
// may be nil.
func Tools(list []tools.Tool, opts *Options) []tools.Tool {
	in := newInstruments(opts)
	list = slices.Clone(list)
	for i := range list {
		list[i] = in.traced(list[i])
	}
	return list
}

// traced returns t with a span and a measurement around each call. One that is answered
// from memory is no execution, so that nothing is measured.
func (in *instruments) traced(t tools.Tool) tools.Tool {
	workspace, name := split(t.Name)
	shared := append(in.common(), keyTool.String(name), keyToolType.String("function"))
	// Clipped, here and below: calls at the same time must not append to one array.
	first := append(slices.Clip(shared), keyOperation.String("execute_tool"))
	if workspace != "" && in.Workspace == "" {
		first = append(first, keyWorkspace.String(workspace))
	}
	begin := func(ctx context.Context, more ...attribute.KeyValue) (context.Context, trace.Span) {
		return in.tracer.Start(parent(ctx), "execute_tool "+name,
			trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(append(slices.Clip(first), more...)...))
	}
	next, remembered := t.Invoke, t.OnRemembered
	t.Invoke = func(ctx context.Context, c tools.Invocation) (r *tools.Answer) {
		start := time.Now()
		ctx, span := begin(ctx)
		defer func() {
			attrs := in.end(span, c, r)
			in.duration.Record(ctx, time.Since(start).Seconds(),
				metric.WithAttributes(append(slices.Clip(shared), attrs...)...))
		}()
		return next(ctx, c)
	}
	t.OnRemembered = func(ctx context.Context, c tools.Invocation, a *tools.Answer) {
		ctx, span := begin(ctx, keyRemembered.Bool(true))
		defer in.end(span, c, a)
		if remembered != nil {
			remembered(ctx, c, a)
		}
	}
	return t
}

// split splits a name that [tools.Prefixed] made: with the workspace's name in
// it, there would be a series of measurements for each workspace.
func split(name string) (workspace, op string) {
	if rest, ok := strings.CutPrefix(name, "workspace__"); ok {
		if i := strings.LastIndex(rest, "__"); i > 0 {
			return rest[:i], rest[i+2:]
		}
	}
	return "", name
}

// w3c reads what a [tools.Trace] holds.
var w3c = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// parent returns ctx with the span of a caller from elsewhere, such as the
// client of an MCP server, if it has no span yet.
func parent(ctx context.Context) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return w3c.Extract(ctx, propagation.MapCarrier(tools.TraceOf(ctx)))
}

// end records how the call went, ends the span, and returns the attributes
// of the measurement. r is nil after a panic.
func (in *instruments) end(span trace.Span, c tools.Invocation, r *tools.Answer) (attrs []attribute.KeyValue) {
	failed := tools.CodeInternal
	if r != nil {
		failed = ""
		if r.Result != nil {
			attrs = append(attrs, keyStatus.String(string(r.Result.Status)))
			failed = endedBadly(r.Result)
		}
		if r.Failure != nil {
			failed = r.Failure.Code
		}
	}
	if failed != "" {
		attrs = append(attrs, keyErrorType.String(failed))
		span.SetStatus(codes.Error, failed)
	}
	if span.IsRecording() {
		span.SetAttributes(attrs...)
		in.describe(span, c, r)
	}
	span.End()
	return attrs
}

// describe sets the attributes that only spans have.
func (in *instruments) describe(span trace.Span, c tools.Invocation, r *tools.Answer) {
	id := c.ID
	if r != nil {
		id = r.CallID
		if r.Result != nil {
			span.SetAttributes(outcome(r.Result)...)
		}
	}
	if id != "" {
		span.SetAttributes(keyCallID.String(id))
	}
	if in.Content {
		in.content(span, keyArguments, c.Args)
	}
	if in.Content && r != nil && r.Failure == nil {
		in.content(span, keyResult, r.JSON())
	}
}

// content records text that may be sensitive.
func (in *instruments) content(span trace.Span, key attribute.Key, text []byte) {
	// Scrubbed before it is cut: the half of a secret would not be found.
	s := in.Secrets.Scrub(string(text))
	if len(s) > maxContent {
		s = s[:maxContent]
		span.SetAttributes(keyContentCut.Bool(true))
	}
	// The cut may be within a character, and exporters send attributes as UTF-8
	// only.
	span.SetAttributes(key.String(strings.ToValidUTF8(s, "\uFFFD")))
}

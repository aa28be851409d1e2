package tools

import "context"

// A Trace is the trace context that came with a call, as W3C Trace Context and
// W3C Baggage write it. It has the methods of OpenTelemetry's
// propagation.TextMapCarrier, so that
//
//	ctx = propagator.Extract(ctx, tools.TraceOf(ctx))
//
// makes the caller's span the parent of those that follow.
type Trace struct {
	Parent  string // traceparent; empty if there is none
	State   string // tracestate
	Baggage string // baggage
}

type traceKey struct{}

// WithTrace returns a ctx that carries t. Whoever takes calls from elsewhere,
// such as a server, passes it to the tools with their ctx.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the Trace that ctx carries, or an empty one.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// Get returns the field of that name: "traceparent", "tracestate" or "baggage".
func (t Trace) Get(key string) string {
	return map[string]string{"traceparent": t.Parent, "tracestate": t.State, "baggage": t.Baggage}[key]
}

// Set does nothing: a Trace is for reading.
func (t Trace) Set(key, value string) {}

// Keys returns the names of the fields.
func (t Trace) Keys() []string { return []string{"traceparent", "tracestate", "baggage"} }

package tools

import "context"

// A Trace is the trace context that came with a call: the fields traceparent, tracestate
// and baggage, as W3C Trace Context and W3C Baggage write them. With OpenTelemetry,
//
//	ctx = propagator.Extract(ctx, propagation.MapCarrier(tools.TraceOf(ctx)))
//
// makes the caller's span the parent of those that follow.
type Trace map[string]string

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

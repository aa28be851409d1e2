package oteltools

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// Interpreter returns ci with a span around each of its operations, named
// "codeinterp" and the operation, such as "codeinterp run in context"; only
// Describe has none. It has the capabilities that ci has; see
// [codeinterp.Wrap]. opts may be nil.
func Interpreter(ci codeinterp.CodeInterpreter, opts *Options) codeinterp.CodeInterpreter {
	w := &watcher{
		instruments: newInstruments(opts),
		provider:    codeinterp.Describe(ci).Provider,
		known:       ci.Languages(),
	}
	return codeinterp.Wrap(ci, func(next codeinterp.Handler) codeinterp.Handler {
		return func(ctx context.Context, c codeinterp.Call) (codeinterp.Reply, error) {
			if c.Op == codeinterp.OpDescribe {
				return next(ctx, c)
			}
			return w.operate(ctx, c, next)
		}
	})
}

// A watcher makes the spans of one interpreter.
type watcher struct {
	*instruments
	provider  string
	known     []string
	languages sync.Map // codeinterp.ContextID to string
}

func (w *watcher) operate(ctx context.Context, c codeinterp.Call, next codeinterp.Handler) (r codeinterp.Reply, err error) {
	language := w.language(c)
	// What is known now goes in at the start: samplers see no later attributes.
	attrs := append(w.common(), keyProvider.String(w.provider))
	if language != "" {
		attrs = append(attrs, keyLanguage.String(language))
	}
	if c.Op.Runs() {
		attrs = append(attrs, keyCodeSize.Int(len(c.Code)))
	}
	if f, ok := c.Args.(codeinterp.FunctionCall); ok {
		attrs = append(attrs, keyTool.String(f.Name))
	}
	ctx, span := w.tracer.Start(parent(ctx), "codeinterp "+c.Op.String(),
		trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attrs...))
	defer span.End()
	if c.Op.Runs() && span.IsRecording() {
		c.Run = withNetwork(c.Run, span)
	}
	r, err = next(ctx, c)
	w.note(c, r, err, language)
	if span.IsRecording() {
		span.SetAttributes(ended(c, &r)...)
	}
	// How the run ended says more than its error, which after a timeout may be nil.
	if failed := failure(c, &r, err); failed != "" {
		span.SetStatus(codes.Error, failed)
		span.SetAttributes(keyErrorType.String(failed))
	}
	return r, err
}

// withNetwork returns options that add network events to a span.
func withNetwork(o *codeinterp.RunOptions, span trace.Span) *codeinterp.RunOptions {
	var own codeinterp.RunOptions
	if o != nil {
		own = *o
	}
	next := own.OnNetwork
	own.OnNetwork = func(e codeinterp.NetworkEvent) {
		span.AddEvent("codeinterp.network", trace.WithTimestamp(e.Start.Add(e.Took)), trace.WithAttributes(
			attribute.String("server.address", e.Host), attribute.Int("server.port", e.Port), attribute.String("http.request.method", e.Method),
			attribute.Bool("codeinterp.network.allowed", e.Allowed), attribute.Int64("codeinterp.network.sent", e.Sent), attribute.Int64("codeinterp.network.received", e.Received)))
		if next != nil {
			next(e)
		}
	}
	return &own
}

// language returns the canonical name of the call's language, empty if it is
// not known: names that a model made up are no attributes.
func (w *watcher) language(c codeinterp.Call) string {
	if l, ok := w.languages.Load(c.Context); ok {
		return l.(string)
	}
	if c.Language == "" {
		return ""
	}
	l, err := codeinterp.ResolveLanguage(c.Language, w.known)
	if err != nil {
		return ""
	}
	return l
}

// note remembers the languages of contexts.
func (w *watcher) note(c codeinterp.Call, r codeinterp.Reply, err error, language string) {
	switch {
	case c.Op.Creates() && err == nil:
		w.languages.Store(r.Context, language)
	case c.Op.Deletes() && err == nil, errors.Is(err, codeinterp.ErrContext):
		w.languages.Delete(c.Context)
	}
}

// ended returns the attributes that are known when a call has ended.
func ended(c codeinterp.Call, r *codeinterp.Reply) (attrs []attribute.KeyValue) {
	if id := c.Context + r.Context; id != "" {
		attrs = append(attrs, keyContext.String(string(id)))
	}
	if c.Op.Runs() {
		attrs = append(attrs, outcome(&r.Result)...)
	}
	return attrs
}

// failure returns the error type of a call, empty for a good one.
func failure(c codeinterp.Call, r *codeinterp.Reply, err error) string {
	if c.Op.Runs() {
		if t := endedBadly(&r.Result); t != "" {
			return t
		}
	}
	if err != nil {
		return tools.CodeOf(err)
	}
	return ""
}

package oteltools

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcell/toolcell/tools/secret"
)

const (
	scope      = "github.com/toolcell/toolcell/tools/oteltools"
	maxContent = 32 << 10
)

// Options tunes [Tools] and [Interpreter]. The zero value is ready to use.
type Options struct {
	// TracerProvider makes the spans. Nil means OpenTelemetry's global one.
	TracerProvider trace.TracerProvider

	// MeterProvider makes the histogram. Nil means OpenTelemetry's global one.
	MeterProvider metric.MeterProvider

	// Workspace, if not empty, is recorded as codeinterp.workspace, also on
	// measurements. If it is empty, spans have the one in a tool's name.
	Workspace string

	// Content records gen_ai.tool.call.arguments, the code included, and
	// gen_ai.tool.call.result, what the model was given of calls that did not fail, in
	// JSON and without images: 32 KiB of each, without Secrets.
	Content bool
	Secrets *secret.Scrubber
}

// instruments are an Options' tracer and histogram.
type instruments struct {
	Options
	tracer   trace.Tracer
	duration metric.Float64Histogram
}

func newInstruments(opts *Options) *instruments {
	in := &instruments{}
	if opts != nil {
		in.Options = *opts
	}
	if in.TracerProvider == nil {
		in.TracerProvider = otel.GetTracerProvider()
	}
	if in.MeterProvider == nil {
		in.MeterProvider = otel.GetMeterProvider()
	}
	in.tracer = in.TracerProvider.Tracer(scope)
	var err error
	in.duration, err = in.MeterProvider.Meter(scope).Float64Histogram("gen_ai.execute_tool.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Duration of tool executions."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	if err != nil {
		otel.Handle(err)
	}
	return in
}

// common returns the attributes that spans and measurements share.
func (in *instruments) common() (attrs []attribute.KeyValue) {
	if in.Workspace != "" {
		attrs = append(attrs, keyWorkspace.String(in.Workspace))
	}
	return attrs
}

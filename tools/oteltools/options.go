package oteltools

import (
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
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

// Keys of OpenTelemetry's semantic conventions for generative AI.
const (
	keyOperation = attribute.Key("gen_ai.operation.name")
	keyTool      = attribute.Key("gen_ai.tool.name")
	keyToolType  = attribute.Key("gen_ai.tool.type")
	keyCallID    = attribute.Key("gen_ai.tool.call.id")
	keyArguments = attribute.Key("gen_ai.tool.call.arguments")
	keyResult    = attribute.Key("gen_ai.tool.call.result")
	keyErrorType = attribute.Key("error.type")
)

// Our own keys.
const (
	keyWorkspace  = attribute.Key("codeinterp.workspace")
	keyProvider   = attribute.Key("codeinterp.provider")
	keyLanguage   = attribute.Key("codeinterp.language")
	keyStatus     = attribute.Key("codeinterp.status")
	keyExitCode   = attribute.Key("codeinterp.exit_code")
	keyStateLost  = attribute.Key("codeinterp.state_lost")
	keyTruncated  = attribute.Key("codeinterp.truncated")
	keyContext    = attribute.Key("codeinterp.context.id")
	keyCodeSize   = attribute.Key("codeinterp.code.size")
	keyOutputSize = attribute.Key("codeinterp.output.size")
	keyRemembered = attribute.Key("codeinterp.remembered")
	keyContentCut = attribute.Key("codeinterp.content.truncated")
)

// outcome returns the span attributes of a run.
func outcome(res *codeinterp.Result) []attribute.KeyValue {
	size := 0
	for i := range res.Outputs {
		size += res.Outputs[i].Size()
	}
	attrs := []attribute.KeyValue{
		keyStatus.String(string(res.Status)),
		keyExitCode.Int(res.ExitCode),
		keyOutputSize.Int(size),
	}
	if res.StateLost {
		attrs = append(attrs, keyStateLost.Bool(true))
	}
	if len(res.Truncated) > 0 {
		attrs = append(attrs, keyTruncated.Bool(true))
	}
	return attrs
}

// endedBadly returns the error type of a run that something else than the
// program ended, empty for the others.
func endedBadly(res *codeinterp.Result) string {
	switch res.Status {
	case codeinterp.StatusTimeout, codeinterp.StatusCanceled, codeinterp.StatusLost:
		return string(res.Status)
	}
	return ""
}

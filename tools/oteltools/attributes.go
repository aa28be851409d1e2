package oteltools

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/toolcell/toolcell/codeinterp"
)

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

// Package oteltools traces and times tool calls with OpenTelemetry.
//
//	ci = oteltools.Interpreter(ci, nil)
//	list, err := tools.ForCode("demo", ci, nil)
//	set, err := tools.NewSet(oteltools.Tools(list, nil), nil)
//
// A workspace traces its tools, and its Dispatch, with this option:
//
//	workspace.Options{Wrap: func(list []tools.Tool) []tools.Tool { return oteltools.Tools(list, nil) }}
//
// [Tools] follows OpenTelemetry's semantic conventions for generative AI: each call is a
// span "execute_tool <name>", without the workspace in the name, and a measurement of the
// histogram gen_ai.execute_tool.duration. Spans nest under the one in the call's ctx or, if
// that has none, under the one that a [tools.Trace] names.
//
// Where an LLM SDK makes such spans itself, leave Tools out and use [Interpreter] alone,
// whose spans then nest under the SDK's.
//
// [Interpreter] adds one span for each operation below that, such as "codeinterp run",
// which shows the program's own time apart from that of the tool.
//
// The package uses the OpenTelemetry API and no SDK; without an SDK in the program it costs
// next to nothing and records nothing.
//
// Connections and requests of the program are events "codeinterp.network" of that span.
//
// # Attributes
//
// Besides those of the conventions there are codeinterp.workspace and .status on spans and
// measurements, and more on spans: exit code, lost state, sizes, provider, language and
// context.
//
// error.type, and with it the span's error status, is set if a call failed (the code of the
// [tools.Failure]), and if a run ended as "timeout", "canceled" or "lost". A program that
// fails by itself is an ordinary outcome: codeinterp.status is "error" then and error.type
// is not set.
//
// # Security
//
// Code, output, arguments and error texts are not recorded. [Options.Content] adds
// arguments and results; whoever reads the traces then reads these.
package oteltools

// Package tools turns an interpreter into tools that a language model can
// call, for any LLM SDK.
//
//	list, err := tools.ForCode("demo", ci, nil)
//	set, err := tools.NewSet(list, nil)
//	definitions, err := format.OpenAIChat{}.Tools(list)
//	...
//	answer := set.Dispatch(ctx, call.Name, call.Arguments, &tools.DispatchOptions{ID: call.ID})
//	messages := format.OpenAIChat{}.Results(answer)
//
// A turn in which a model makes several calls goes to [Set.DispatchAll], which
// runs them in parallel and keeps the calls in one context in order.
//
// Which tools there are depends on what the interpreter can do and on nothing
// else: run_code always; create_code_context, run_in_code_context and
// delete_code_context where it keeps state; on request also
// list_code_contexts, restart_code_context and interrupt_code_context where it
// is a [codeinterp.ContextManager], and read_output. [ForFiles] makes read_file,
// write_file, edit_file, list_files, glob, grep and remove_file for a directory,
// [ForShell] run_command for a shell, and on request start_command,
// command_output, command_input, stop_command and list_commands.
//
// [Func] and [Tool.Function] go the other way: they make functions that programs
// call, see [codeinterp.RunOptions], of Go functions and of tools.
//
// # Definitions
//
// Package format renders the definitions, and later the answers, as the JSON of
// the API of OpenAI, Anthropic, Gemini, Ollama or the Model Context Protocol. No
// SDK is imported: json.Unmarshal of that JSON into the SDK's own parameter type
// is the adapter. The directory examples/sdks has a program for each. langchaingo
// takes the definitions of OpenAI's chat as []llms.Tool, or a [TextTool].
//
// # Arguments
//
// A call is checked completely before anything runs, and all its faults are
// reported together, in words that a model can act on. What models often get slightly
// wrong and what has only one meaning is accepted: 1e3 or 1000.0 for an
// integer, null for an optional argument, arguments encoded twice, "py" for
// python. Everything else is refused: unknown and duplicate names, other
// types, values out of range.
//
// # Replies
//
// An [Answer] holds what the model gets: a text of bounded size that stands
// alone, and images. Terminal control sequences are gone from it, progress bars
// are collapsed, secrets are scrubbed, long output is cut in the middle and the
// loss is counted. Answer.JSON is the same in JSON. The whole, uncut Result
// stays with the caller in Answer.Result.
//
// A call that fails, other than by the program's own doing, is answered with
// {"error": {"code": ..., "message": ...}}; the message says what to do next.
//
// # Security
//
// Contents of files, pages of read_output and of command_output reach the model
// as they are, behind a first line of ours, but for secrets: an edit needs them to
// the byte. Within them any line may be the program's, also one that says how much
// was left out there.
//
// What a program prints is data from an untrusted source. It reaches the model
// under headings that the program cannot imitate, nor what stands in place of an
// image or of what is left out: such a line has a backslash in front. It is without
// invisible characters; it is not protected against text that argues with the model.
// Scrubbing of secrets is a second line of defence: it finds the registered
// values and their base64, URL-encoded and escaped forms, in chunks, across
// cuts and pages, and nothing that a program computes from them in another way
// or divides among streams or runs. Live output is scrubbed as the program
// writes it: a secret with a control sequence in its middle is found in
// answers, not there. Images are not looked into.
package tools
